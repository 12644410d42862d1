// The inspector behind the page: requests, and the stream of everything that happens.

import { isNumber, parse } from "./json.js";

/** Messages that the page keeps, like the program behind it. */
const MAX_MESSAGES = 10_000;

/** What is known of the connection. */
export const store = {
  state: {},
  messages: [],
  /** HTTP requests with their responses, by number. */
  exchanges: new Map(),
  questions: new Map(),
  logs: [],
  /** Calls that run as tasks, by id: the tool, the states, and the key of the request that follows it. */
  tasks: new Map(),
  /** Steps of logins. */
  login: [],
};

/** Arguments that the user has written, for this tab: they survive another view, a new connection and a reload. */
const draftKey = (key) => `${store.state.target} ${key}`;

/** Returns the arguments that were written before. */
export function draft(key) {
  try {
    return parse(sessionStorage.getItem(draftKey(key)) ?? "null") ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps arguments. */
export function keepDraft(key, value) {
  try {
    sessionStorage.setItem(draftKey(key), JSON.stringify(value ?? null));
  } catch {
    // The browser has no room for them.
  }
}

/** Tasks, states of one task, and steps of logins that the page keeps. */
const MAX_TASKS = 500;

/** Emits `state`, `messages`, `questions`, `tasks`, `login`, `app` and `changed`. */
export const bus = new EventTarget();

const emit = (name, detail) => bus.dispatchEvent(new CustomEvent(name, { detail }));

/** Requests without a response, by their side and id. */
const open = { client: new Map(), server: new Map() };

/** Messages by the number of their event. */
const byNumber = new Map();

/** Removes the messages from the page. */
export function forget() {
  store.messages.length = 0;
  store.exchanges.clear();
  byNumber.clear();
  emit("messages", {});
}

/** Adds a row to the list of messages. The oldest goes at the limit. */
function append(event) {
  store.messages.push(event);
  byNumber.set(event.number, event);
  if (store.messages.length > MAX_MESSAGES) byNumber.delete(store.messages.shift().number);
  emit("messages", event);
}

async function post(path, body) {
  const response = await fetch(`api/${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(await response.text());
  const answer = parse(await response.text());
  if (answer.error !== undefined) throw new Error(answer.error);
  return answer.result ?? answer;
}

let lastKey = 0;

function cancellable(path, method, body) {
  const key = `${method} ${(lastKey += 1)} ${Date.now()}`;
  const promise = post(path, { key, method, ...body });
  promise.key = key;
  promise.cancel = () => post("cancel", { key });
  return promise;
}

/** Sends a request to the server. The promise has a function `cancel`, and the key that its messages and questions carry. */
export const request = (method, params = {}) => cancellable("request", method, { params });

/** Sends a request with each of these revisions, by connections of their own. */
export const compare = (method, params, protocols) => cancellable("compare", method, { params, protocols });

/** Logs in at the server, and connects again. */
export const login = (protocol) => cancellable("login", undefined, { protocol });

/** Opens the view of a tool, hands it a message of its frame, and closes it. */
export const openApp = (call) => post("app/open", call);
export const sendToApp = (view, message) => post("app/send", { view, message });
export const closeApp = (view) => post("app/close", { view });

/** Reads the differences between the server and the snapshot of the command line. */
export const diff = () => post("diff", {});

export const answer = (id, action, content) => post("answer", { id, action, content });
export const connect = (protocol) => post("connect", { protocol });
export const watch = (uris) => post("watch", { uris });
export const setRoots = (uris) => post("roots", { uris });

/** Reads the state of the connection again. */
export async function refresh() {
  const response = await fetch("api/state");
  store.state = parse(await response.text());
  emit("state");
}

/** Begins to read events. The browser opens the stream again when it breaks. */
export function listen() {
  const source = new EventSource("api/events");
  let last = 0;
  source.onmessage = ({ data, lastEventId }) => {
    const number = Number(lastEventId);
    // A restarted program counts from one.
    if (number <= last) return;
    last = number;
    receive({ ...parse(data), number }, data);
  };
}

function receive(event, data) {
  switch (event.kind) {
    case "message":
      // The message is the last member of its event, and the only one of this name.
      event.raw = data.slice(data.indexOf('"message":') + '"message":'.length, -1);
      return receiveMessage(event);
    case "question":
      store.questions.set(event.id, { ...event, ...callOf(event) });
      return emit("questions");
    case "settled":
      store.questions.delete(event.id);
      return emit("questions");
    case "change":
      return emit("changed", event);
    case "http":
      return receiveExchange(event);
    case "failure":
    case "sse":
      return append({ ...event, from: "server", bytes: 0, message: null });
    case "task":
      return receiveTask(event);
    case "app":
    case "appEvent":
      return emit("app", event);
    case "auth":
      store.login.push(event);
      if (store.login.length > MAX_TASKS) store.login.shift();
      return emit("login", event);
    case "closed":
      return refresh();
    case "connecting":
      open.client.clear();
      open.server.clear();
      store.state = { ...store.state, connected: false };
      return emit("state");
    case "connected":
      store.failure = event.error;
      return refresh();
  }
}

function receiveMessage(event) {
  const { message, from } = event;
  if (event.head?.violations) event.violations = event.head.violations;
  pair(event, from, message);
  if (message?.method === "notifications/message") {
    store.logs.push(event);
    if (store.logs.length > MAX_MESSAGES) store.logs.shift();
  }
  append(event);
}

/** Connects an HTTP request with its message and its response. One without a message is a row of its own. */
function receiveExchange(event) {
  const { request, response, failed, violations, ...rest } = event;
  if (!request) {
    const known = store.exchanges.get(event.exchange);
    if (known) Object.assign(known, response ? { response } : { failed });
    if (known && violations) (known.row.violations ??= []).push(...violations);
    return emit("messages", event);
  }
  const exchange = { request };
  store.exchanges.set(event.exchange, exchange);
  if (store.exchanges.size > MAX_MESSAGES) store.exchanges.delete(store.exchanges.keys().next().value);
  const message = byNumber.get(event.message);
  exchange.row = message ?? { ...rest, kind: "exchange", exchange, from: "client", bytes: 0, message: null };
  if (message) (message.exchanges ??= []).push(exchange);
  else append(exchange.row);
  emit("messages", event);
}

/** Methods in which a server may ask. */
const ASKING = ["tools/call", "prompts/get", "resources/read"];

/** The call of a question. In a legacy session it has no name there: it is known while only one call runs. */
function callOf({ call, method }) {
  if (method) return { call };
  const running = [...open.client.values()].filter((it) => ASKING.includes(it.message.method));
  if (running.length !== 1) return {};
  const [{ head, message }] = running;
  return { call: head?.call, method: message.method, item: message.params?.name ?? message.params?.uri };
}

/** The result of a request of this page as the server has sent it. */
export const sentResult = (key) => store.messages.findLast((it) => it.head?.call === key && it.message?.result !== undefined)?.message.result;

function receiveTask({ ms, tool, task, call }) {
  const id = task.taskId;
  const known = store.tasks.get(id) ?? { id, states: [] };
  known.tool ??= tool ?? undefined;
  known.call = call ?? known.call;
  known.states.push({ ms, task });
  if (known.states.length > MAX_TASKS) known.states.shift();
  store.tasks.set(id, known);
  if (store.tasks.size > MAX_TASKS) store.tasks.delete(store.tasks.keys().next().value);
  emit("tasks", { call, task });
}

/** Connects a response with its request. An id that is not a text or a number belongs to none. */
function pair(event, from, message) {
  const { id, method } = message ?? {};
  if (typeof id !== "string" && !isNumber(id)) return;
  const key = JSON.stringify(id);
  if (method !== undefined) {
    const requests = open[from];
    requests.set(key, event);
    if (requests.size > MAX_MESSAGES) requests.delete(requests.keys().next().value);
    return;
  }
  const requests = open[from === "client" ? "server" : "client"];
  const sent = requests.get(key);
  if (!sent) return;
  requests.delete(key);
  event.request = sent;
  sent.response = event;
  event.latency = event.ms - sent.ms;
}

// The frame of the page: views, connection, commands.

import { bus, connect, listen, refresh, request, store } from "./backend.js";
import * as apps from "./apps.js";
import * as changes from "./changes.js";
import { fill, throttled } from "./dom.js";
import * as login from "./login.js";
import * as logs from "./logs.js";
import * as palette from "./palette.js";
import * as prompts from "./prompts.js";
import * as protocol from "./protocol.js";
import * as questions from "./questions.js";
import * as resources from "./resources.js";
import * as server from "./server.js";
import * as skills from "./skills.js";
import * as tasks from "./tasks.js";
import * as tools from "./tools.js";

const VIEWS = { server, tools, prompts, resources, apps, skills, tasks, questions, logs, protocol, changes, login };
const main = document.getElementById("view");
const nav = document.getElementById("views");
const status = document.getElementById("status");
const select = document.getElementById("revision");
let leave = () => {};

/** Shows the view of the address: `#tools/echo`. */
function route() {
  const [name, ...rest] = location.hash.slice(1).split("/");
  const view = VIEWS[name] ? name : "server";
  const selected = rest.length ? decodeURIComponent(rest.join("/")) : undefined;
  leave();
  fill(main);
  leave = VIEWS[view].show(main, selected) ?? (() => {});
  for (const item of nav.children) item.setAttribute("aria-current", item.dataset.view === view ? "page" : "false");
  reveal();
}

/** Scrolls to the link of the view: in a narrow window, not all of them fit. */
function reveal() {
  nav.querySelector("[aria-current=page]")?.scrollIntoView({ block: "nearest", inline: "center" });
}

const counts = throttled(() => {
  const numbers = { tasks: store.tasks.size, questions: store.questions.size, logs: store.logs.length, protocol: store.messages.length };
  for (const [name, number] of Object.entries(numbers)) {
    const count = nav.querySelector(`[data-view=${name}] .count`);
    count.textContent = number ? String(number) : "";
    count.classList.toggle("urgent", name === "questions" && number > 0);
  }
});

function state() {
  const { target, connected, version, server, protocol } = store.state;
  document.getElementById("target").textContent = server?.title ?? server?.name ?? target ?? "MCP inspector";
  document.title = `${server?.name ?? target ?? ""} – MCP inspector`;
  status.textContent = connected ? `connected, ${version}` : (store.failure ?? "not connected");
  status.className = connected ? "good" : "bad";
  if (protocol && document.activeElement !== select) select.value = protocol;
}

async function reconnect(protocol) {
  status.textContent = "connecting";
  try {
    await connect(protocol);
  } catch (error) {
    status.textContent = error.message;
  }
}

async function commands() {
  const go = (hash) => () => (location.hash = hash);
  const list = Object.keys(VIEWS).map((name) => ({ label: `Go to ${name}`, run: go(name) }));
  for (const { value, text } of select.options) list.push({ label: `Reconnect with ${text}`, run: () => reconnect(value) });
  const kinds = [["tools/list", "tools", "tools", "name"], ["prompts/list", "prompts", "prompts", "name"], ["resources/list", "resources", "resources", "uri"]];
  for (const [method, name, capability, key] of kinds) {
    if (!store.state.capabilities?.[capability]) continue;
    const items = await request(method).catch(() => ({}));
    for (const item of items[name] ?? []) list.push({ label: `${name}: ${item[key]}`, run: go(`${name}/${encodeURIComponent(item[key])}`) });
  }
  palette.open(document.getElementById("palette"), list);
}

addEventListener("hashchange", route);
addEventListener("resize", throttled(reveal));
addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    commands();
  }
});
document.getElementById("commands").addEventListener("click", commands);
document.getElementById("reconnect").addEventListener("click", () => reconnect(select.value));
document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
bus.addEventListener("state", state);
bus.addEventListener("questions", counts);
bus.addEventListener("messages", counts);
bus.addEventListener("tasks", counts);

route();
// The state waits for the connection. Events show why it takes so long.
listen();
await refresh().catch((error) => (status.textContent = error.message));

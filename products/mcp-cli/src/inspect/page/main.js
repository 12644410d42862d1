// The frame of the page: views, connection, commands.

import { bus, connect, listen, refresh, store } from "./backend.js";
import * as apps from "./apps.js";
import { listOf } from "./catalog.js";
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
  const view = Object.hasOwn(VIEWS, name) ? name : "server";
  const selected = rest.length ? decodeURIComponent(rest.join("/")) : undefined;
  leave();
  fill(main);
  leave = VIEWS[view].show(main, selected) ?? (() => {});
  for (const item of nav.children) item.setAttribute("aria-current", item.dataset.view === view ? "page" : "false");
  menu();
  reveal();
}

/** Returns true if the server has what a view shows. Before a connection is known, each view may have something. */
function isUseful(view) {
  const { capabilities: has, against, login: canLogIn } = store.state;
  const extension = (name) => has?.extensions?.[`io.modelcontextprotocol/${name}`];
  switch (view) {
    case "tools":
    case "prompts":
    case "resources":
      return !has || has[view];
    case "apps":
      return !has || (has.tools && extension("ui"));
    case "skills":
      return !has || extension("skills");
    case "tasks":
      return !has || has.tasks || extension("tasks") || store.tasks.size > 0;
    case "logs":
      return !has || has.logging || store.logs.length > 0;
    case "changes":
      return !has || against;
    case "login":
      return !has || canLogIn || store.login.length > 0;
    default:
      return true;
  }
}

/** Shows the links to views that have something, and to the current one. */
function menu() {
  for (const item of nav.children) item.hidden = item.getAttribute("aria-current") !== "page" && !isUseful(item.dataset.view);
}

/** Scrolls to the link of the view: in a narrow window, not all of them fit. */
function reveal() {
  nav.querySelector("[aria-current=page]")?.scrollIntoView({ block: "nearest", inline: "center" });
}

const counts = throttled(() => {
  menu();
  const numbers = { tasks: store.tasks.size, questions: store.questions.size, logs: store.logs.length, protocol: store.messages.length };
  for (const [name, number] of Object.entries(numbers)) {
    const count = nav.querySelector(`[data-view=${name}] .count`);
    count.textContent = number ? String(number) : "";
    count.classList.toggle("urgent", name === "questions" && number > 0);
  }
});

function state() {
  const { target, connected, closed, version, server, protocol } = store.state;
  document.getElementById("target").textContent = server?.title ?? server?.name ?? target ?? "MCP inspector";
  document.title = `${server?.name ?? target ?? ""} – MCP inspector`;
  status.textContent = connected ? `connected, ${version}` : (store.failure ?? (closed ? `disconnected: ${closed}` : "not connected"));
  status.className = connected ? "good" : "bad";
  if (protocol && document.activeElement !== select) select.value = protocol;
  menu();
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
  const list = Object.keys(VIEWS).filter(isUseful).map((name) => ({ label: `Go to ${name}`, run: go(name) }));
  for (const { value, text } of select.options) list.push({ label: `Reconnect with ${text}`, run: () => reconnect(value) });
  const kinds = [["tools/list", "tools", "tools", "name"], ["prompts/list", "prompts", "prompts", "name"], ["resources/list", "resources", "resources", "uri"]];
  for (const [method, name, capability, key] of kinds) {
    const items = await listOf(method, name, capability).catch(() => []);
    for (const item of items) list.push({ label: `${name}: ${item[key]}`, run: go(`${name}/${encodeURIComponent(item[key])}`) });
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

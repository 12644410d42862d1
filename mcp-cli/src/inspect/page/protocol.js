// Every message in both directions.

import { bus, store } from "./backend.js";
import { button, copyButton, el, fill, json, size, throttled } from "./dom.js";

/** Height of a row in pixels, as in the style sheet. */
const ROW = 28;
/** Rows above and below the visible ones. */
const MARGIN = 10;

export function show(root) {
  const filter = el("input", { type: "search", "aria-label": "Search messages", placeholder: "Search methods, names and contents" });
  const side = el("select", { "aria-label": "Direction" }, el("option", { value: "" }, "both directions"), el("option", { value: "client" }, "sent"), el("option", { value: "server" }, "received"));
  const follow = el("input", { type: "checkbox", id: "follow", checked: true });
  const count = el("span", { class: "quiet", role: "status" });
  const space = el("div", { role: "rowgroup" });
  const stream = el("div", { class: "stream", role: "grid", tabindex: "0", "aria-label": "Messages" }, space);
  const details = el("section", { "aria-label": "Message" });
  const exported = el("a", { href: "/api/recording", download: "session.jsonl" }, "Save as a recording");
  const clear = button("Clear", () => {
    store.messages.length = 0;
    update();
  });
  fill(root, el("h2", {}, "Protocol"),
    el("div", { class: "row" }, filter, side, follow, el("label", { for: follow.id }, "Follow"), clear, exported, count), stream, details);

  let shown = [];
  let selected;
  const select = (event) => {
    selected = event;
    fill(details, message(event));
    paint();
  };
  const paint = throttled(() => {
    space.style.height = `${shown.length * ROW}px`;
    const first = Math.max(0, Math.floor(stream.scrollTop / ROW) - MARGIN);
    const last = Math.min(shown.length, Math.ceil((stream.scrollTop + stream.clientHeight) / ROW) + MARGIN);
    fill(space, shown.slice(first, last).map((event, n) => row(event, first + n, event === selected, select)));
  });
  const update = throttled(() => {
    const wanted = filter.value.toLowerCase();
    shown = store.messages.filter((event) => (!side.value || event.from === side.value) && (!wanted || searchable(event).includes(wanted)));
    count.textContent = `${shown.length} of ${store.messages.length}`;
    space.style.height = `${shown.length * ROW}px`;
    if (follow.checked) stream.scrollTop = stream.scrollHeight;
    paint();
  });
  stream.addEventListener("scroll", paint);
  stream.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    follow.checked = false;
    const at = Math.min(shown.length - 1, Math.max(0, shown.indexOf(selected) + step));
    stream.scrollTop = Math.max(0, at * ROW - stream.clientHeight / 2);
    if (shown[at]) select(shown[at]);
  });
  filter.addEventListener("input", update);
  side.addEventListener("change", update);
  bus.addEventListener("messages", update);
  update();
  return () => bus.removeEventListener("messages", update);
}

/** The text of a message for the search. It is made once. */
function searchable(event) {
  event.searchable ??= (event.text ?? JSON.stringify(event.message) ?? "").toLowerCase();
  return event.searchable;
}

function row(event, index, isSelected, select) {
  const kind = event.kind === "failure" || event.message?.error || event.message?.malformed !== undefined ? "bad" : "";
  return placed(index, el("div", { role: "row", "aria-selected": String(isSelected), "aria-rowindex": index + 1, onclick: () => select(event) },
    el("span", { role: "gridcell", class: "number" }, `${(event.ms / 1000).toFixed(3)}`),
    el("span", { role: "gridcell", title: event.from === "client" ? "sent" : "received" }, event.from === "client" ? "→" : "←"),
    el("span", { role: "gridcell", class: kind }, title(event)),
    el("span", { role: "gridcell", class: "number" }, event.latency === undefined ? "" : `${event.latency} ms`),
    el("span", { role: "gridcell", class: "number size" }, size(event.bytes))));
}

function placed(index, element) {
  element.style.top = `${index * ROW}px`;
  return element;
}

function title(event) {
  const { message } = event;
  if (event.kind === "failure") return event.text;
  if (message?.method !== undefined) {
    const name = message.params?.name ?? message.params?.uri;
    return name ? `${message.method} ${name}` : message.method;
  }
  const method = event.request?.message?.method ?? "response";
  return message?.error ? `${method}: ${message.error.code} ${message.error.message}` : `${method}: result`;
}

function message(event) {
  const { message, head, request, response } = event;
  const rows = [
    ["Direction", event.from === "client" ? "from the client to the server" : "from the server to the client"],
    ["Size", size(event.bytes)],
    head?.status && ["HTTP status", head.status],
    head?.version && ["MCP-Protocol-Version", head.version],
    head?.method && ["Mcp-Method", head.method],
    head?.name && ["Mcp-Name", head.name],
    event.latency !== undefined && ["Time", `${event.latency} ms after the request`],
  ].filter(Boolean);
  const isCall = event.from === "client" && message?.method !== undefined;
  return el("div", { class: "content" },
    el("table", {}, rows.map(([name, value]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, String(value))))),
    el("div", { class: "row" },
      copyButton("Copy JSON", () => JSON.stringify(message, null, 2)),
      isCall && store.state.target?.includes("://") ? copyButton("Copy as curl", () => curl(event)) : null,
      isCall ? copyButton("Copy as Rust", () => rust(message)) : null),
    json(message),
    response ? [el("h3", {}, `Response after ${response.latency} ms`), json(response.message)] : null,
    request ? [el("h3", {}, "Request"), json(request.message)] : null);
}

const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

function curl({ message, head }) {
  const headers = [
    ["Content-Type", "application/json"],
    ["Accept", "application/json, text/event-stream"],
    ["MCP-Protocol-Version", head?.version],
    ["Mcp-Method", head?.method],
    ["Mcp-Name", head?.name],
  ].filter(([, value]) => value);
  const flags = headers.map(([name, value]) => `  -H ${quoted(`${name}: ${value}`)}`);
  return [`curl -N ${quoted(store.state.target)}`, ...flags, `  -d ${quoted(JSON.stringify(message))}`].join(" \\\n");
}

function rust({ method, params }) {
  const { _meta, ...own } = params ?? {};
  const text = (value) => JSON.stringify(value);
  const values = (value) => `json!(${JSON.stringify(value ?? {}, null, 4)})`;
  switch (method) {
    case "tools/call":
      return `let result = client.call(${text(own.name)}, ${values(own.arguments)}).await?;`;
    case "prompts/get":
      return `let result = client.get_prompt(${text(own.name)}, ${values(own.arguments)}).await?;`;
    case "resources/read":
      return `let result = client.read_resource(${text(own.uri)}).await?;`;
    case "tools/list":
      return "let tools = client.list_all_tools().await?;";
    default:
      return `let result = client.request(${text(method)}, ${values(own)}).await?;`;
  }
}

// Every message in both directions.

import { bus, forget, store } from "./backend.js";
import { button, el, fill, size, throttled, written } from "./dom.js";
import { message } from "./message.js";

/** Height of a row in pixels, as in the style sheet. */
const ROW = 28;
/** Rows above and below the visible ones. */
const MARGIN = 10;

export function show(root) {
  const filter = el("input", { type: "search", "aria-label": "Search messages", placeholder: "Search methods, names and contents" });
  const side = el("select", { "aria-label": "Direction" }, el("option", { value: "" }, "both directions"), el("option", { value: "client" }, "sent"), el("option", { value: "server" }, "received"));
  const follow = el("input", { type: "checkbox", checked: true });
  const count = el("span", { class: "quiet", role: "status" });
  const space = el("div", { role: "rowgroup" });
  const stream = el("div", { class: "stream", role: "grid", tabindex: "0", "aria-label": "Messages" }, space);
  const details = el("section", { "aria-label": "Message" });
  const exported = el("a", { href: "api/recording", download: "session.jsonl" }, "Save as a recording");
  const clear = button("Clear", () => {
    forget();
    selected = undefined;
    parts.classList.remove("chosen");
    fill(details);
    update();
  });
  const wrong = el("input", { type: "checkbox" });
  const parts = el("div", { class: "messages" }, stream, details);
  fill(root, el("h2", {}, "Protocol"),
    el("div", { class: "row" }, filter, side, el("label", { class: "check" }, wrong, "Violations only"), el("label", { class: "check" }, follow, "Follow"), clear, exported, count), parts);

  let shown = [];
  let selected;
  const select = (event) => {
    selected = event;
    parts.classList.add("chosen");
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
    shown = store.messages.filter((event) => (!side.value || event.from === side.value) && (!wrong.checked || event.violations) && (!wanted || searchable(event).includes(wanted)));
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
  wrong.addEventListener("change", update);
  bus.addEventListener("messages", update);
  update();
  return () => bus.removeEventListener("messages", update);
}

/** The text of a message for the search. It is made once. */
function searchable(event) {
  event.searchable ??= (event.text ?? (event.raw ?? (event.message ? written(event.message) : title(event)))).toLowerCase();
  return event.searchable;
}

function row(event, index, isSelected, select) {
  const isBad = event.kind === "failure" || event.exchange?.failed || event.message?.error || event.message?.malformed !== undefined;
  const kind = isBad ? "bad" : "";
  return placed(index, el("div", { role: "row", "aria-selected": String(isSelected), "aria-rowindex": index + 1, onclick: () => select(event) },
    el("span", { role: "gridcell", class: "number" }, `${(event.ms / 1000).toFixed(3)}`),
    el("span", { role: "gridcell", title: event.from === "client" ? "sent" : "received" }, event.from === "client" ? "→" : "←"),
    el("span", { role: "gridcell", class: kind }, event.violations ? el("span", { class: "warn", title: rulesOf(event) }, `⚠ ${rulesOf(event)} `) : null, title(event), event.head?.unchecked ? el("span", { class: "quiet" }, " (not checked)") : null),
    el("span", { role: "gridcell", class: "number" }, event.latency === undefined ? "" : `${event.latency} ms`),
    el("span", { role: "gridcell", class: "number size" }, size(event.bytes))));
}

const rulesOf = (event) => [...new Set(event.violations.map((it) => it.rule))].join(", ");

function placed(index, element) {
  element.style.top = `${index * ROW}px`;
  return element;
}

function title(event) {
  const { message } = event;
  if (event.kind === "failure") return event.text;
  if (event.kind === "exchange") return `HTTP ${event.exchange.request.method}`;
  if (event.kind === "sse") return event.event === undefined ? "SSE retry" : `SSE event ${event.event}`;
  if (message?.method !== undefined) {
    const name = message.params?.name ?? message.params?.uri;
    return name ? `${written(message.method)} ${written(name)}` : written(message.method);
  }
  const method = written(event.request?.message?.method ?? "response");
  return message?.error ? `${method}: ${written(message.error.code)} ${written(message.error.message)}` : `${method}: result`;
}

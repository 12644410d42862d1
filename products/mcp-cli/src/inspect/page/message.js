// One message with what HTTP adds to it, and the message that belongs to it.

import { store } from "./backend.js";
import { curl, rust, test } from "./copies.js";
import { copyButton, el, plain, size, written } from "./dom.js";
import { indented } from "./json.js";
import { custom } from "./server.js";

/** Requests that the client sends on its own, or makes from other parameters than those of the page. */
const ONCE = new Set(["initialize", "subscriptions/listen", "completion/complete", "skills/get"]);

/** Shows a row of the list. */
export function message(event) {
  const { message, request, response } = event;
  const isCall = event.from === "client" && message?.method !== undefined;
  return el("div", { class: "content" },
    table(facts(event)),
    event.violations ? [
      el("h3", {}, "Violations"),
      el("ul", {}, event.violations.map(({ rule, text }) => el("li", { class: "warn" }, el("strong", {}, rule), ` ${text}`))),
    ] : null,
    message === null || message === undefined ? null : [
      el("div", { class: "row" },
        copyButton("Copy JSON", () => sent(event)),
        isCall && store.state.target?.includes("://") ? copyButton("Copy as curl", () => curl(event, store.state.target)) : null,
        isCall ? copyButton("Copy as Rust", () => rust(message)) : null,
        isCall && response ? copyButton("Copy as a test", () => test(message, response.message)) : null),
      plain(sent(event)),
      isCall && message.id !== undefined && !ONCE.has(message.method) ? again(message) : null,
    ],
    http(event),
    response ? [el("h3", {}, `Response after ${response.latency} ms`), plain(sent(response))] : null,
    request ? [el("h3", {}, "Request"), plain(sent(request))] : null);
}

/** A message as it was sent, indented unless it is large. */
const sent = ({ raw, message }) => indented(raw ?? written(message));

/** Sends a request again, changed or not. The client adds `_meta` of its own. */
function again({ method, params }) {
  const { _meta, ...own } = params ?? {};
  return el("details", {}, el("summary", {}, "Send again"), custom(method, own));
}

const table = (rows) => el("table", {}, rows.map(([name, value]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, value))));

function facts(event) {
  const sse = event.kind === "sse" ? event : event.head?.sse;
  const directions = { client: "from the client to the server", server: "from the server to the client" };
  return [
    ["Direction", directions[event.from]],
    event.message && ["Size", size(event.bytes)],
    event.head?.status && ["HTTP status", event.head.status],
    sse?.event !== undefined && ["SSE event", sse.event],
    typeof sse?.id === "string" && ["SSE id", sse.id],
    typeof sse?.retry === "number" && ["SSE retry", `${sse.retry} ms`],
    event.latency !== undefined && ["Time", `${event.latency} ms after the request`],
    event.text && ["Failure", event.text],
    event.head?.unchecked && ["Rules", "not checked: the message, or a number in it, is too large"],
  ].filter(Boolean);
}

/** The exchanges that carried a message: its own ones, or the one of its stream or request. */
function http(event) {
  const stream = (event.head?.sse ?? (event.kind === "sse" ? event : undefined))?.exchange;
  const carried = stream === undefined ? event.request?.exchanges : [store.exchanges.get(stream)];
  const all = event.exchange && event.kind === "exchange" ? [event.exchange] : event.exchanges ?? carried ?? [];
  return all.filter(Boolean).map(exchange);
}

function exchange({ request, response, failed }) {
  return el("details", { open: true }, el("summary", {}, "HTTP"),
    el("h3", {}, `${request.method} ${request.url}`), table(request.headers),
    response ? [el("h3", {}, `${response.status} ${response.reason ?? ""}`), table(response.headers)] : null,
    failed ? el("p", { class: "bad" }, "No response arrived.") : null);
}

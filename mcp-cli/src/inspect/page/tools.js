// The tools: their forms, and the results of calls.

import { request } from "./backend.js";
import { catalogue, listOf, runner } from "./catalogue.js";
import { content } from "./contents.js";
import { el, json } from "./dom.js";
import { form } from "./forms.js";

export function show(root, selected) {
  return catalogue(root, selected, {
    name: "tools",
    change: "tools",
    load: () => listOf("tools/list", "tools", "tools"),
    key: (tool) => tool.name,
    label: (tool) => tool.title ?? tool.annotations?.title ?? tool.name,
    note: (tool) => tool.description,
    detail,
  });
}

/** What the annotations of a tool promise. They come from the server. */
const HINTS = [
  ["readOnlyHint", "reads only"],
  ["destructiveHint", "may destroy"],
  ["idempotentHint", "may be repeated"],
  ["openWorldHint", "reaches other systems"],
];

function detail(tool) {
  const fields = form(tool.inputSchema);
  const run = runner("Call", () => request("tools/call", { name: tool.name, arguments: fields.read() }), (it) => result(it, tool));
  const hints = HINTS.filter(([name]) => tool.annotations?.[name] === true).map(([, label]) => el("span", { class: "chip" }, label));
  return [
    el("h2", {}, tool.title ?? tool.name),
    el("p", { class: "row" }, el("code", {}, tool.name), hints),
    el("p", {}, tool.description ?? ""),
    el("form", { onsubmit: run.start }, fields.element, run.element),
    el("details", {}, el("summary", {}, "Definition"), json(tool)),
  ];
}

function result(it, tool) {
  const structured = it.structuredContent === undefined ? null : [el("h3", {}, "Structured content"), json(it.structuredContent)];
  const missing = tool.outputSchema && structured === null && !it.isError;
  return [
    it.isError ? el("p", { class: "bad", role: "alert" }, "The tool reports an error.") : el("p", { class: "good" }, "The call was successful."),
    missing ? el("p", { class: "warn" }, "The tool has an output schema, and the result has no structured content.") : null,
    (it.content ?? []).map(content),
    structured,
    el("details", {}, el("summary", {}, "Result as JSON"), json(it)),
  ];
}

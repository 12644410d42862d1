// The tools: their forms, and the results of calls.

import { compare, draft, keepDraft, request } from "./backend.js";
import { catalog, listOf, runner } from "./catalog.js";
import { content, resultAsJson } from "./contents.js";
import { el, json } from "./dom.js";
import { form } from "./forms.js";
import { isEqual, parse } from "./json.js";

export function show(root, selected) {
  return catalog(root, selected, {
    name: "tools",
    change: "tools",
    load: async () => {
      const { tools = [], lints = [] } = (await listOf("tools/list", undefined, "tools")) ?? {};
      return tools.map((tool) => ({ ...tool, lints: lints.filter((it) => it.tool === tool.name) }));
    },
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

/** The revisions of the protocol. */
const REVISIONS = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

function detail({ lints, ...tool }) {
  const fields = toolForm(tool);
  const run = runner("Call", () => request("tools/call", { name: tool.name, arguments: fields.read() }), (it, key) => result(it, key, tool));
  const hints = HINTS.filter(([name]) => tool.annotations?.[name] === true).map(([, label]) => el("span", { class: "chip" }, label));
  return [
    el("h2", {}, tool.title ?? tool.name),
    el("p", { class: "row" }, el("code", {}, tool.name), hints),
    el("p", { class: "text" }, tool.description ?? ""),
    el("div", { class: "wide" }, el("form", { novalidate: true, onsubmit: run.start }, fields.element, run.controls), run.output),
    lints.length ? [el("h3", {}, "What clients refuse"), el("ul", {}, lints.map((it) => el("li", { class: "warn" }, `${it.location}: ${it.reason}; ${it.fix}`)))] : null,
    el("details", {}, el("summary", {}, "Compare revisions"), comparison(tool, fields)),
    el("details", {}, el("summary", {}, "Definition"), json(tool)),
  ];
}

/** The form of a tool, with the arguments that were written before. */
export function toolForm(tool) {
  const key = `tool ${tool.name}`;
  return form(tool.inputSchema, draft(key), (value) => keepDraft(key, value));
}

/** The same call with each revision, by connections of their own. */
function comparison(tool, fields) {
  const send = () => compare("tools/call", { name: tool.name, arguments: fields.read() }, REVISIONS);
  const run = runner("Call with each revision", send, (outcomes) => {
    const first = JSON.stringify(outcomes[0]?.result?.content);
    return el("table", {}, outcomes.map(({ protocol, version, ms, error, result: it }) => {
      const differs = error === undefined && JSON.stringify(it.content) !== first;
      const text = error ?? (version === protocol ? "" : `the server chose ${version}`);
      return el("tr", {},
        el("th", { scope: "row" }, protocol, el("br"), `${ms} ms`),
        el("td", {}, text ? el("p", { class: error ? "bad" : "warn" }, text) : null, differs ? el("p", { class: "warn" }, "differs from the first") : null, (it?.content ?? []).map(content)));
    }));
  });
  return el("div", {}, el("form", { onsubmit: run.start }, el("p", { class: "quiet" }, "The tool is called once with each revision."), run.controls), run.output);
}

/** Returns true if the only content is the structured content as text, as servers send it for older clients. */
function isRepeated({ content: [block, ...more] = [], structuredContent }) {
  if (structuredContent === undefined || more.length || block?.type !== "text" || block.annotations) return false;
  try {
    return isEqual(parse(block.text), structuredContent);
  } catch {
    return false;
  }
}

function result(it, key, tool) {
  const structured = it.structuredContent === undefined ? null : [el("h3", {}, "Structured content"), json(it.structuredContent)];
  const missing = tool.outputSchema && structured === null && !it.isError;
  return [
    it.isError ? el("p", { class: "bad", role: "alert" }, "The tool reports an error.") : el("p", { class: "good" }, "The call was successful."),
    missing ? el("p", { class: "warn" }, "The tool has an output schema, and the result has no structured content.") : null,
    isRepeated(it) ? null : (it.content ?? []).map(content),
    structured,
    resultAsJson(it, key),
  ];
}

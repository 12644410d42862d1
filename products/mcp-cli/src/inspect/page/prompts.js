// The prompts, with completion of their arguments.

import { draft, keepDraft, request, store } from "./backend.js";
import { catalog, listOf, runner } from "./catalog.js";
import { content, resultAsJson } from "./contents.js";
import { el, fill, json } from "./dom.js";
import { report } from "./forms.js";
import { member } from "./json.js";

export function show(root, selected) {
  return catalog(root, selected, {
    name: "prompts",
    change: "prompts",
    load: () => listOf("prompts/list", "prompts", "prompts"),
    key: (prompt) => prompt.name,
    label: (prompt) => prompt.title ?? prompt.name,
    note: (prompt) => prompt.description,
    detail,
  });
}

function detail(prompt) {
  const fields = (prompt.arguments ?? []).map((it) => ({ name: it.name, isRequired: it.required, hint: it.description, title: it.title }));
  const inputs = argumentInputs(fields, { prompt: prompt.name });
  const run = runner("Get", () => request("prompts/get", { name: prompt.name, arguments: inputs.checked() }), (it, key) => [
    it.description ? el("p", { class: "quiet" }, it.description) : null,
    (it.messages ?? []).map((message, n) => el("div", {}, el("h3", {}, message.role), content(message.content, n))),
    resultAsJson(it, key),
  ]);
  return [
    el("h2", {}, prompt.title ?? prompt.name),
    el("p", { class: "text" }, prompt.description ?? ""),
    el("div", { class: "wide" }, el("form", { novalidate: true, onsubmit: run.start }, inputs.element, run.controls), run.output),
    el("details", {}, el("summary", {}, "Definition"), json(prompt)),
  ];
}

/** Inputs for arguments that are texts. Servers with completion propose values. */
export function argumentInputs(fields, reference) {
  const key = JSON.stringify(reference);
  const former = draft(key) ?? {};
  const canComplete = Boolean(store.state.capabilities?.completions);
  const parts = fields.map((it) => {
    const list = el("datalist", { id: `values-${it.name}` });
    const input = el("input", { id: `argument-${it.name}`, list: list.id, required: it.isRequired, value: member(former, it.name) ?? "", autocomplete: "off", spellcheck: "false" });
    input.addEventListener("input", () => {
      keepDraft(key, read());
      if (canComplete) complete(it.name, input, list);
    });
    const title = [it.title ?? it.name, it.isRequired ? el("span", { class: "quiet" }, " required") : ""];
    const hint = it.hint ? el("span", { class: "hint" }, it.hint) : null;
    return { name: it.name, input, element: el("div", { class: "field" }, el("label", { for: input.id }, title), hint, input, list) };
  });
  const read = () => Object.fromEntries(parts.filter(({ input }) => input.value !== "").map(({ name, input }) => [name, input.value]));
  const complete = async (name, input, list) => {
    const value = input.value;
    const { [name]: _, ...context } = read();
    try {
      const found = await request("completion/complete", { ...reference, argument: name, value, context });
      if (input.value === value) fill(list, found.completion.values.map((it) => el("option", { value: it })));
    } catch {
      // The user goes on without proposals.
    }
  };
  const element = el("div", {}, parts.map((part) => part.element));
  const checked = () => {
    report(element, parts.filter(({ input }) => input.required && input.value === "").map(({ input }) => ({ element: input, text: "required" })));
    return read();
  };
  return { element, checked };
}

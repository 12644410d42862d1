// The prompts, with completion of their arguments.

import { request, store } from "./backend.js";
import { catalog, listOf, runner } from "./catalog.js";
import { content } from "./contents.js";
import { el, fill, json } from "./dom.js";

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
  const run = runner("Get", () => request("prompts/get", { name: prompt.name, arguments: inputs.read() }), (it) => [
    it.description ? el("p", { class: "quiet" }, it.description) : null,
    (it.messages ?? []).map((message) => el("div", {}, el("h3", {}, message.role), content(message.content))),
    el("details", {}, el("summary", {}, "Result as JSON"), json(it)),
  ]);
  return [
    el("h2", {}, prompt.title ?? prompt.name),
    el("p", {}, prompt.description ?? ""),
    el("form", { onsubmit: run.start }, inputs.element, run.element),
    el("details", {}, el("summary", {}, "Definition"), json(prompt)),
  ];
}

/** Inputs for arguments that are texts. Servers with completion propose values. */
export function argumentInputs(fields, reference) {
  const canComplete = Boolean(store.state.capabilities?.completions);
  const parts = fields.map((it) => {
    const list = el("datalist", { id: `values-${it.name}` });
    const input = el("input", { id: `argument-${it.name}`, list: list.id, required: it.isRequired, autocomplete: "off", spellcheck: "false" });
    if (canComplete) input.addEventListener("input", () => complete(it.name, input, list));
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
  return { element: el("div", {}, parts.map((part) => part.element)), read };
}

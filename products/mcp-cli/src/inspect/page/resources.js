// The resources and templates, their contents, and subscriptions.

import { bus, request, watch } from "./backend.js";
import { catalog, listOf, runner } from "./catalog.js";
import { content, resultAsJson } from "./contents.js";
import { button, el, json } from "./dom.js";
import { member } from "./json.js";
import { argumentInputs } from "./prompts.js";

/** The resources that are watched. */
const watched = new Set();

export function show(root, selected) {
  return catalog(root, selected, {
    name: "resources",
    change: "resources",
    load: async () => [
      ...(await listOf("resources/list", "resources", "resources")),
      ...(await listOf("resources/templates/list", "resourceTemplates", "resources")),
    ],
    key: (it) => it.uri ?? it.uriTemplate,
    label: (it) => it.title ?? it.name ?? it.uri ?? it.uriTemplate,
    note: (it) => it.uri ?? it.uriTemplate,
    detail: (it) => (it.uriTemplate ? template(it) : known(it)),
    // A link of a result may lead to a resource that is not listed.
    missing: (uri) => known({ uri, name: uri }),
  });
}

const contents = (it, key) => [
  (it.contents ?? []).map((part, n) => content({ type: "resource", resource: part }, n)),
  resultAsJson(it, key),
];

function known(it) {
  const run = runner("Read", () => request("resources/read", { uri: it.uri }), contents);
  const status = el("span", { class: "quiet", role: "status" });
  const toggle = button(watched.has(it.uri) ? "Stop watching" : "Watch", async () => {
    const wanted = !watched.has(it.uri);
    if (wanted) watched.add(it.uri);
    else watched.delete(it.uri);
    try {
      await watch([...watched]);
      toggle.textContent = wanted ? "Stop watching" : "Watch";
      status.textContent = wanted ? "waiting for changes" : "";
    } catch (error) {
      watched.delete(it.uri);
      status.textContent = error.message;
    }
  });
  const changed = ({ detail }) => {
    if (!status.isConnected) return bus.removeEventListener("changed", changed);
    if (detail.what === "resource" && detail.uri === it.uri) {
      status.textContent = `changed at ${new Date().toLocaleTimeString()}`;
      run.start();
    }
  };
  bus.addEventListener("changed", changed);
  return [
    el("h2", {}, it.title ?? it.name),
    el("p", {}, el("code", {}, it.uri), " ", el("span", { class: "quiet" }, it.mimeType ?? "")),
    el("p", { class: "text" }, it.description ?? ""),
    el("form", { onsubmit: run.start }, el("p", { class: "row" }, toggle, status), run.element),
    el("details", {}, el("summary", {}, "Definition"), json(it)),
  ];
}

function template(it) {
  const names = expressionsOf(it.uriTemplate).flatMap(({ names }) => names);
  const fields = names.map((name) => ({ name: name.replace(/(\*|:\d+)$/, ""), isRequired: true }));
  const inputs = argumentInputs(fields, { template: it.uriTemplate });
  const run = runner("Read", () => request("resources/read", { uri: expand(it.uriTemplate, inputs.checked()) }), contents);
  return [
    el("h2", {}, it.title ?? it.name),
    el("p", {}, el("code", {}, it.uriTemplate)),
    el("p", { class: "text" }, it.description ?? ""),
    el("div", { class: "wide" }, el("form", { novalidate: true, onsubmit: run.start }, inputs.element, run.controls), run.output),
    el("details", {}, el("summary", {}, "Definition"), json(it)),
  ];
}

/** Where an expression of RFC 6570 begins, what stands between its values, and whether they have names. */
const OPERATORS = {
  "": ["", ",", false], "+": ["", ",", false], "#": ["#", ",", false], ".": [".", ".", false],
  "/": ["/", "/", false], ";": [";", ";", true], "?": ["?", "&", true], "&": ["&", "&", true],
};

/** The expressions of a template, and where they begin and end. */
function expressionsOf(template) {
  const found = [];
  for (let start = template.indexOf("{"); start >= 0; ) {
    const end = template.indexOf("}", start);
    if (end < 0) break;
    const [operator] = /^[+#./;?&]?/.exec(template.slice(start + 1, end));
    found.push({ start, end: end + 1, operator, names: template.slice(start + 1 + operator.length, end).split(",") });
    start = template.indexOf("{", end);
  }
  return found;
}

/** Expands a template with texts. */
export function expand(template, values) {
  const out = [];
  let last = 0;
  for (const { start, end, operator, names } of expressionsOf(template)) {
    const [first, between, isNamed] = OPERATORS[operator];
    const encode = operator === "+" || operator === "#" ? encodeURI : encodeURIComponent;
    const parts = names.flatMap((spec) => {
      const [, name, limit] = /^([^*:]*)(?:\*|:(\d+))?$/.exec(spec) ?? [];
      const value = member(values, name);
      if (value === undefined) return [];
      const text = encode(limit ? [...value].slice(0, Number(limit)).join("") : value);
      return [isNamed ? `${name}=${text}` : text];
    });
    out.push(template.slice(last, start), parts.length ? first + parts.join(between) : "");
    last = end;
  }
  return [...out, template.slice(last)].join("");
}

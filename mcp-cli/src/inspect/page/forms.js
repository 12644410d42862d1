// Forms made from JSON Schemas. What a form cannot express is written as JSON.

import { button, el, fill } from "./dom.js";

/** Nested schemas beyond this depth are written as JSON. */
const MAX_DEPTH = 6;

let lastId = 0;
const nextId = () => `field-${(lastId += 1)}`;

/** Makes the fields of an object. `read` returns its value, and throws an error for people. */
export function form(schema, value) {
  const root = schema ?? {};
  let current = field(root, root, value ?? defaultOf(root, root), 0);
  const isRaw = el("input", { type: "checkbox", id: nextId() });
  const holder = el("div", {}, current.element);
  isRaw.addEventListener("change", () => {
    let kept;
    try {
      kept = current.read();
    } catch {
      kept = undefined;
    }
    current = isRaw.checked ? rawField(root, kept ?? {}) : field(root, root, kept, 0);
    fill(holder, current.element);
  });
  const toggle = el("div", { class: "row quiet" }, isRaw, el("label", { for: isRaw.id }, "Write JSON"));
  return { element: el("div", {}, holder, toggle), read: () => current.read() ?? {} };
}

function field(schema, root, value, depth) {
  const resolved = resolve(schema, root);
  if (depth > MAX_DEPTH || typeof resolved !== "object") return rawField(resolved, value);
  if (resolved.const !== undefined) return constField(resolved.const);
  if (Array.isArray(resolved.enum)) return choiceField(resolved.enum.map((it, n) => [it, resolved.enumNames?.[n] ?? text(it)]), value);
  const variants = resolved.oneOf ?? resolved.anyOf;
  if (Array.isArray(variants) && variants.every((it) => it?.const !== undefined)) {
    return choiceField(variants.map((it) => [it.const, it.title ?? text(it.const)]), value);
  }
  if (Array.isArray(variants)) return variantField(variants, root, value, depth);
  const types = [resolved.type ?? (resolved.properties ? "object" : undefined)].flat();
  if (types.length > 1) return variantField(types.map((type) => ({ ...resolved, type, title: type })), root, value, depth);
  switch (types[0]) {
    case "object":
      return resolved.properties ? objectField(resolved, root, value, depth) : rawField(resolved, value ?? {});
    case "array":
      return arrayField(resolved, root, value, depth);
    case "boolean":
      return booleanField(value);
    case "number":
    case "integer":
      return numberField(resolved, types[0], value);
    case "string":
      return stringField(resolved, value);
    case "null":
      return constField(null);
    default:
      return rawField(resolved, value);
  }
}

function objectField(schema, root, value, depth) {
  const required = new Set(schema.required ?? []);
  const parts = Object.entries(schema.properties).map(([name, part]) => {
    const known = resolve(part, root);
    const given = value?.[name] ?? defaultOf(part, root);
    const inner = field(part, root, given, depth + 1);
    return { name, inner, isRequired: required.has(name), element: labelled(name, known, inner, required.has(name)) };
  });
  const read = () => {
    const object = {};
    for (const { name, inner, isRequired } of parts) {
      const it = inner.read();
      if (it === undefined && isRequired) throw new Error(`"${name}" is required`);
      if (it !== undefined) object[name] = it;
    }
    return depth > 0 && Object.keys(object).length === 0 ? undefined : object;
  };
  return { element: el("div", {}, parts.map((part) => part.element)), read, isGroup: true };
}

function labelled(name, schema, inner, isRequired) {
  const title = [schema.title ?? name, isRequired ? el("span", { class: "quiet" }, " required") : ""];
  const hint = schema.description ? el("span", { class: "hint" }, schema.description) : null;
  if (inner.isGroup) return el("fieldset", {}, el("legend", {}, title), hint, inner.element);
  const control = inner.element.matches("input, select, textarea") ? inner.element : inner.element.querySelector("input, select, textarea");
  if (control) control.id ||= nextId();
  return el("div", { class: "field" }, el("label", { for: control?.id }, title), hint, inner.element);
}

function arrayField(schema, root, value, depth) {
  const items = [];
  const list = el("div", {});
  const add = (given) => {
    const inner = field(schema.items ?? {}, root, given, depth + 1);
    const control = inner.element.matches("input, select, textarea") ? inner.element : inner.element.querySelector("input, select, textarea");
    control?.setAttribute("aria-label", `Item ${items.length + 1}`);
    const remove = button("Remove", () => {
      items.splice(items.indexOf(item), 1);
      item.element.remove();
    });
    const item = { inner, element: el("div", { class: "row" }, inner.element, remove) };
    items.push(item);
    list.append(item.element);
  };
  for (const it of Array.isArray(value) ? value : []) add(it);
  const element = el("div", {}, list, button("Add an item", () => add(defaultOf(schema.items, root))));
  const read = () => {
    const values = items.map(({ inner }) => inner.read()).filter((it) => it !== undefined);
    return values.length === 0 && !Array.isArray(value) ? undefined : values;
  };
  return { element, read, isGroup: true };
}

function variantField(variants, root, value, depth) {
  const names = variants.map((it, n) => {
    const known = resolve(it, root);
    return known?.title ?? known?.type ?? `variant ${n + 1}`;
  });
  const select = el("select", { "aria-label": "Variant" }, names.map((name, n) => el("option", { value: n }, String(name))));
  const holder = el("div", {});
  let inner;
  const show = (given) => {
    inner = field(variants[Number(select.value)], root, given, depth + 1);
    fill(holder, inner.element);
  };
  const fitting = variants.findIndex((it) => resolve(it, root)?.type === typeOf(value));
  if (fitting > 0) select.value = String(fitting);
  select.addEventListener("change", () => show(defaultOf(variants[Number(select.value)], root)));
  show(value);
  return { element: el("div", {}, select, holder), read: () => inner.read(), isGroup: true };
}

function choiceField(choices, value) {
  const options = choices.map(([, label], n) => el("option", { value: n }, String(label)));
  const select = el("select", {}, el("option", { value: "" }, ""), options);
  const chosen = choices.findIndex(([it]) => JSON.stringify(it) === JSON.stringify(value));
  if (chosen >= 0) select.value = String(chosen);
  return { element: select, read: () => (select.value === "" ? undefined : choices[Number(select.value)][0]) };
}

function booleanField(value) {
  const choices = [[true, "true"], [false, "false"]];
  return choiceField(choices, value);
}

function numberField(schema, type, value) {
  const input = el("input", {
    type: "number",
    step: type === "integer" ? 1 : "any",
    min: schema.minimum,
    max: schema.maximum,
    value: value ?? "",
  });
  const read = () => {
    if (input.validity.badInput) throw new Error("this is no number");
    return input.value === "" ? undefined : Number(input.value);
  };
  return { element: input, read };
}

/** Formats with an input of their own. */
const INPUTS = { email: "email", uri: "url", date: "date" };

function stringField(schema, value) {
  const isLong = schema.maxLength === undefined ? String(value ?? "").includes("\n") : schema.maxLength > 200;
  const props = { value: value ?? "", minlength: schema.minLength, maxlength: schema.maxLength, autocomplete: "off", spellcheck: "false" };
  const input = isLong ? el("textarea", props) : el("input", { type: INPUTS[schema.format] ?? "text", ...props });
  return { element: input, read: () => (input.value === "" ? undefined : input.value) };
}

function constField(value) {
  return { element: el("code", {}, text(value)), read: () => value };
}

function rawField(schema, value) {
  const area = el("textarea", { spellcheck: "false", placeholder: "JSON", "aria-label": "JSON" });
  area.value = value === undefined ? "" : JSON.stringify(value, null, 2);
  const read = () => {
    if (area.value.trim() === "") return undefined;
    try {
      return JSON.parse(area.value);
    } catch (error) {
      throw new Error(`${schema?.title ?? "a field"} is no JSON: ${error.message}`);
    }
  };
  return { element: area, read };
}

/** Follows references inside of the schema. */
function resolve(schema, root) {
  let current = schema;
  for (let step = 0; step < 16 && typeof current?.$ref === "string"; step += 1) {
    if (!current.$ref.startsWith("#")) return current;
    const path = current.$ref.slice(1).split("/").slice(1);
    const names = path.map((it) => decodeURIComponent(it).replaceAll("~1", "/").replaceAll("~0", "~"));
    const found = names.reduce((it, name) => it?.[name], root);
    const { $ref, ...beside } = current;
    current = { ...found, ...beside };
  }
  return current ?? {};
}

function defaultOf(schema, root) {
  return resolve(schema ?? {}, root).default;
}

function typeOf(value) {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

const text = (value) => (typeof value === "string" ? value : JSON.stringify(value));

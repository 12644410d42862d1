// Forms made from JSON Schemas. What a form cannot express is written as JSON.

import { button, el, fill } from "./dom.js";
import { exact, isNumber, parse } from "./json.js";

/** Nested schemas beyond this depth are written as JSON. */
const MAX_DEPTH = 6;

let lastId = 0;
const nextId = () => `field-${(lastId += 1)}`;

/**
 * Makes the fields of an object. `read` returns its value; where fields have mistakes it marks each of them, and throws an
 * error. `changed` receives what the fields contain after each change, without what has a mistake.
 */
export function form(schema, value, changed = () => {}) {
  const root = schema ?? {};
  let current = field(root, root, value ?? defaultOf(root, root), 0);
  const isRaw = el("input", { type: "checkbox", id: nextId() });
  const holder = el("div", {}, current.element);
  isRaw.addEventListener("change", () => {
    const kept = current.read([]);
    current = isRaw.checked ? rawField(kept ?? {}) : field(root, root, kept, 0);
    fill(holder, current.element);
  });
  for (const event of ["input", "change", "click"]) holder.addEventListener(event, () => changed(current.read([])));
  const toggle = el("div", { class: "row quiet" }, isRaw, el("label", { for: isRaw.id }, "Write JSON"));
  const read = () => {
    const mistakes = [];
    const found = current.read(mistakes);
    report(holder, mistakes);
    return found ?? {};
  };
  return { element: el("div", {}, holder, toggle), read };
}

/** Shows each mistake at its field, moves the focus to the first, and throws an error if there is one. */
export function report(holder, mistakes) {
  for (const former of holder.querySelectorAll(".mistake")) former.remove();
  for (const former of holder.querySelectorAll("[aria-invalid]")) {
    former.removeAttribute("aria-invalid");
    former.removeAttribute("aria-describedby");
  }
  for (const { element, text } of mistakes) {
    const note = el("p", { class: "bad mistake", id: nextId() }, text);
    if (element.matches(CONTROLS)) {
      element.setAttribute("aria-invalid", "true");
      element.setAttribute("aria-describedby", note.id);
      element.after(note);
    } else {
      element.append(note);
    }
  }
  holder.querySelector("[aria-invalid]")?.focus();
  if (mistakes.length) throw new Error(mistakes.length === 1 ? "A field has a mistake." : `${mistakes.length} fields have mistakes.`);
}

/** What a user fills in. */
const CONTROLS = "input, select, textarea";

/** Returns the first control of a field. */
const controlOf = ({ element }) => (element.matches(CONTROLS) ? element : element.querySelector(CONTROLS));

/** Describes a range: `1 to 10 items`. */
function range(least, most, unit = "") {
  const text = least !== undefined && most !== undefined ? (least === most ? `exactly ${least}` : `${least} to ${most}`)
    : least !== undefined ? `at least ${least}` : most !== undefined ? `at most ${most}` : undefined;
  return text && `${text}${unit}`;
}

/** The bounds of a schema as text. */
function bounds(schema) {
  const { minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below } = schema;
  return [
    range(minimum, maximum),
    isNumber(above) ? `more than ${above}` : null,
    isNumber(below) ? `less than ${below}` : null,
    schema.multipleOf === undefined ? null : `a multiple of ${schema.multipleOf}`,
    range(schema.minLength, schema.maxLength, " characters"),
    schema.pattern === undefined ? null : `matches ${schema.pattern}`,
    typeof schema.format === "string" ? `format ${schema.format}` : null,
    range(schema.minItems, schema.maxItems, " items"),
  ].filter(Boolean);
}

function field(schema, root, value, depth) {
  const resolved = resolve(schema, root);
  if (depth > MAX_DEPTH || typeof resolved !== "object") return rawField(value);
  if (resolved.const !== undefined) return constField(resolved.const);
  const { isRequired } = resolved;
  if (Array.isArray(resolved.enum)) return choiceField(resolved.enum.map((it, n) => [it, resolved.enumNames?.[n] ?? text(it)]), value, isRequired);
  const variants = resolved.oneOf ?? resolved.anyOf;
  if (Array.isArray(variants) && variants.every((it) => it?.const !== undefined)) {
    return choiceField(variants.map((it) => [it.const, it.title ?? text(it.const)]), value, isRequired);
  }
  if (Array.isArray(variants)) return variantField(variants, root, value, depth, isRequired);
  const types = [resolved.type ?? (resolved.properties ? "object" : undefined)].flat();
  if (types.length > 1) return variantField(types.map((type) => ({ ...resolved, type, title: type })), root, value, depth, isRequired);
  switch (types[0]) {
    case "object":
      return resolved.properties ? objectField(resolved, root, value, depth) : rawField(value ?? {});
    case "array":
      return arrayField(resolved, root, value, depth);
    case "boolean":
      return choiceField([[true, "true"], [false, "false"]], value, isRequired);
    case "number":
    case "integer":
      return numberField(resolved, types[0], value);
    case "string":
      return stringField(resolved, value);
    case "null":
      return constField(null);
    default:
      return rawField(value);
  }
}

function objectField(schema, root, value, depth) {
  const required = new Set(schema.required ?? []);
  const parts = Object.entries(schema.properties).map(([name, part]) => {
    const known = resolve(part, root);
    const given = value?.[name] ?? defaultOf(part, root);
    const inner = field(required.has(name) && typeof known === "object" ? { ...known, isRequired: true } : part, root, given, depth + 1);
    return { name, inner, isRequired: required.has(name), element: labelled(name, known, inner, required.has(name)) };
  });
  const read = (mistakes) => {
    const object = {};
    const missing = [];
    for (const { name, inner, isRequired } of parts) {
      const known = mistakes.length;
      const it = inner.read(mistakes);
      if (it !== undefined) object[name] = it;
      else if (isRequired && mistakes.length === known) missing.push({ element: controlOf(inner) ?? inner.element, text: "required" });
    }
    // An optional object without members is left out.
    if (depth > 0 && !schema.isRequired && Object.keys(object).length === 0) return undefined;
    mistakes.push(...missing);
    return object;
  };
  return { element: el("div", {}, parts.map((part) => part.element)), read, isGroup: true };
}

function labelled(name, schema, inner, isRequired) {
  const title = [schema.title ?? name, isRequired && !inner.isConst ? el("span", { class: "quiet" }, " required") : ""];
  const hints = [schema.description, bounds(schema).join(", ")].filter(Boolean);
  const hint = hints.map((text) => el("span", { class: "hint" }, text));
  if (inner.isGroup) return el("fieldset", {}, el("legend", {}, title), hint, inner.element);
  const control = controlOf(inner);
  if (control) {
    control.id ||= nextId();
    // The name of the field is the better one.
    control.removeAttribute("aria-label");
  }
  return el("div", { class: "field" }, el("label", { for: control?.id }, title), hint, inner.element);
}

function arrayField(schema, root, value, depth) {
  const items = [];
  const list = el("div", {});
  const add = (given) => {
    const part = resolve(schema.items, root);
    const inner = field(typeof part === "object" ? { ...part, isRequired: true } : part, root, given, depth + 1);
    controlOf(inner)?.setAttribute("aria-label", `Item ${items.length + 1}`);
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
  const read = (mistakes) => {
    const values = items.map(({ inner }) => inner.read(mistakes)).filter((it) => it !== undefined);
    if (values.length === 0 && !Array.isArray(value) && !(schema.isRequired && !schema.minItems)) return undefined;
    if (values.length < (schema.minItems ?? 0) || values.length > (schema.maxItems ?? Infinity)) {
      mistakes.push({ element, text: `needs ${range(schema.minItems, schema.maxItems, " items")}` });
    }
    return values;
  };
  return { element, read, isGroup: true };
}

function variantField(variants, root, value, depth, isRequired) {
  const known = variants.map((it) => resolve(it, root));
  const names = known.map((it, n) => variantName(it, root) ?? `variant ${n + 1}`);
  // Two variants of the same name have numbers.
  const labels = names.map((name, n) => (names.indexOf(name) === names.lastIndexOf(name) ? String(name) : `${name} ${n + 1}`));
  // An object with a tag is never empty, so that leaving it out is a choice.
  const canMiss = !isRequired && known.every((it) => it.properties || it.type === "null");
  const select = el("select", { "aria-label": "Variant" }, canMiss ? el("option", { value: "" }, NOT_SET) : null, labels.map((label, n) => el("option", { value: n }, label)));
  const holder = el("div", {});
  let inner;
  const show = (given) => {
    const variant = known[select.value];
    inner = select.value === "" ? undefined : field(typeof variant === "object" ? { ...variant, isRequired: isRequired || canMiss } : variant, root, given, depth + 1);
    fill(holder, inner?.element);
  };
  const fitting = value === undefined ? -1 : known.findIndex((it) => fits(it, value, root));
  if (fitting >= 0) select.value = String(fitting);
  select.addEventListener("change", () => show(defaultOf(known[select.value], root)));
  show(value);
  return { element: el("div", {}, select, holder), read: (mistakes) => inner?.read(mistakes), isGroup: true };
}

/** The name of a variant: its title, the value of its tag, or its only member. */
function variantName(schema, root) {
  const { title, const: value, properties = {}, type } = schema;
  if (title !== undefined) return title;
  if (value !== undefined) return text(value);
  const names = Object.keys(properties);
  const tags = names.map((name) => tagOf(properties[name], root)).filter((it) => it !== undefined);
  if (tags.length) return tags.map(text).join(" ");
  return names.length === 1 && schema.required?.includes(names[0]) ? names[0] : type;
}

/** The only value of a member. */
function tagOf(schema, root) {
  const { const: value, enum: values } = resolve(schema, root);
  return value ?? (values?.length === 1 ? values[0] : undefined);
}

/** Returns true if a value has the type and the tags of a variant, or the required members of one without tags. */
function fits({ type, const: only, properties = {}, required = [] }, value, root) {
  if (only !== undefined) return isSame(only, value);
  const own = typeOf(value);
  if (own !== "object") return type === undefined || type === own || (type === "integer" && own === "number");
  const tags = Object.entries(properties).map(([name, part]) => [name, tagOf(part, root)]).filter(([, tag]) => tag !== undefined);
  const hasMember = (name) => Object.hasOwn(value, name);
  return tags.length ? tags.every(([name, tag]) => isSame(tag, value[name])) : (type ?? own) === own && required.every(hasMember);
}

const isSame = (left, right) => JSON.stringify(left) === JSON.stringify(right);

/** The choice of an optional field that is left out. */
const NOT_SET = "not set";

function choiceField(choices, value, isRequired) {
  const options = choices.map(([, label], n) => el("option", { value: n }, String(label)));
  // A required field has no empty choice: a single one is chosen, and of several the user has to choose one.
  const empty = isRequired ? el("option", { value: "", disabled: true, hidden: true }, "choose") : el("option", { value: "" }, NOT_SET);
  const select = el("select", {}, isRequired && choices.length === 1 ? null : empty, options);
  const chosen = choices.findIndex(([it]) => isSame(it, value));
  if (chosen >= 0) select.value = String(chosen);
  else if (select.contains(empty)) select.value = "";
  return { element: select, read: () => (select.value === "" ? undefined : choices[Number(select.value)][0]) };
}

/** A number of JSON. */
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/** A number is a text here: as a number of JavaScript, it would be rounded. */
function numberField(schema, type, value) {
  const input = el("input", { inputmode: type === "integer" ? "numeric" : "decimal", autocomplete: "off", value: isNumber(value) ? String(value) : "" });
  const read = (mistakes) => {
    const written = input.value.trim();
    if (written === "") return undefined;
    const mistake = problemOf(written);
    if (mistake) mistakes.push({ element: input, text: mistake });
    return mistake ? undefined : parse(written);
  };
  const problemOf = (written) => {
    if (!NUMBER.test(written)) return "not a number";
    if (type === "integer" && !Number.isInteger(Number(written))) return "not a whole number";
    const { minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below, multipleOf } = schema;
    const it = exact(written);
    const isBeyond = (isNumber(minimum) && it < exact(minimum)) || (isNumber(maximum) && it > exact(maximum)) || (isNumber(above) && it <= exact(above)) || (isNumber(below) && it >= exact(below));
    return isBeyond || isBetween(it, exact(multipleOf ?? 0)) ? `must be ${bounds({ ...schema, format: undefined }).join(", ")}` : undefined;
  };
  return { element: input, read };
}

/** Returns true if a number is no multiple of a step. */
function isBetween(value, step) {
  if (!(step > 0)) return false;
  if (typeof value === "bigint" && typeof step === "bigint") return value % step !== 0n;
  const quotient = Number(value) / Number(step);
  return Math.abs(quotient - Math.round(quotient)) > 1e-9;
}

/** Formats with an input of their own. */
const INPUTS = { email: "email", uri: "url", date: "date" };

function stringField(schema, value) {
  const isLong = schema.maxLength === undefined ? String(value ?? "").includes("\n") : schema.maxLength > 200;
  const props = { value: value ?? "", autocomplete: "off", spellcheck: "false" };
  const input = isLong ? el("textarea", props) : el("input", { type: INPUTS[schema.format] ?? "text", ...props });
  const problemOf = (value) => {
    const length = [...value].length;
    if (length < schema.minLength || length > schema.maxLength) return `needs ${range(schema.minLength, schema.maxLength, " characters")}`;
    if (input.validity.typeMismatch) return `not of the format ${schema.format}`;
    return matches(schema.pattern, value) ? undefined : `must match ${schema.pattern}`;
  };
  const read = (mistakes) => {
    if (input.value === "") return undefined;
    const text = problemOf(input.value);
    if (text) mistakes.push({ element: input, text });
    return text ? undefined : input.value;
  };
  return { element: input, read };
}

/** Returns true also for a pattern that the browser cannot use. */
function matches(pattern, value) {
  try {
    return pattern === undefined || new RegExp(pattern, "u").test(value);
  } catch {
    return true;
  }
}

function constField(value) {
  return { element: el("code", {}, text(value)), read: () => value, isConst: true };
}

function rawField(value) {
  const area = el("textarea", { spellcheck: "false", placeholder: "JSON", "aria-label": "JSON" });
  area.value = value === undefined ? "" : JSON.stringify(value, null, 2);
  const read = (mistakes) => {
    if (area.value.trim() === "") return undefined;
    try {
      return parse(area.value);
    } catch (error) {
      mistakes.push({ element: area, text: `not JSON: ${error.message}` });
      return undefined;
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
  if (isNumber(value)) return "number";
  return Array.isArray(value) ? "array" : typeof value;
}

const text = (value) => (typeof value === "string" ? value : JSON.stringify(value));

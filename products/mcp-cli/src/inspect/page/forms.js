// Forms made from JSON Schemas. What a form cannot express is written as JSON.

import { button, el, fill, jsonText, written as text } from "./dom.js";
import { exact, isEqual, isNumber, member, parse } from "./json.js";

/** Nested schemas beyond this depth are written as JSON. A form with too many parts is made again with the next depth. */
const DEPTHS = [6, 3, 1];

/** Parts of a form: fields, choices, references, names. Texts and lists of the schema count by their length. */
const MAX_PARTS = 10_000;

/** A schema has too many parts for a form. */
class TooLarge extends Error {}

let lastId = 0;
const nextId = () => `field-${(lastId += 1)}`;

/**
 * Makes the fields of an object. `read` returns its value; where fields have mistakes it marks each of them, and throws an
 * error. `changed` receives what the fields contain after each change, without what has a mistake.
 */
export function form(schema, value, changed = () => {}) {
  let current = whole(schema ?? {}, value);
  const isRaw = el("input", { type: "checkbox", id: nextId() });
  const holder = el("div", {}, current.element);
  isRaw.addEventListener("change", () => {
    const kept = current.read([]);
    current = isRaw.checked ? rawField(kept ?? {}) : whole(schema ?? {}, kept);
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

/** The fields of a schema. `left` are the parts that it may still have. */
function whole(root, value) {
  for (const depth of DEPTHS) {
    try {
      const scope = { root, depth, left: MAX_PARTS };
      return field(root, scope, value ?? defaultOf(root, scope), 0);
    } catch {
      // Too many parts.
    }
  }
  return rawField(value ?? {});
}

/** A field that the user has asked for: it may have as many parts as the whole form. */
function laterField(schema, scope, value, depth) {
  try {
    scope.left = MAX_PARTS;
    return field(schema, scope, value ?? defaultOf(schema, scope), depth);
  } catch {
    return rawField(value);
  }
}

function spend(scope, parts) {
  scope.left -= parts;
  if (scope.left < 0) throw new TooLarge();
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

/** A field of a schema. Where the schema or the value has mistakes, it is written as JSON. */
function field(schema, scope, value, depth) {
  try {
    return knownField(schema, scope, value, depth);
  } catch (error) {
    if (error instanceof TooLarge) throw error;
    return rawField(value, scope);
  }
}

function knownField(schema, scope, value, depth) {
  const resolved = resolve(schema, scope);
  if (depth > scope.depth) return rawField(value, scope);
  if (resolved.const !== undefined) return constField(resolved.const, scope);
  const { isRequired } = resolved;
  if (Array.isArray(resolved.enum)) return choiceField(resolved.enum.map((it, n) => [it, resolved.enumNames?.[n] ?? it]), scope, value, isRequired);
  const variants = resolved.oneOf ?? resolved.anyOf;
  if (Array.isArray(variants) && variants.every((it) => it?.const !== undefined)) {
    return choiceField(variants.map((it) => [it.const, it.title ?? it.const]), scope, value, isRequired);
  }
  if (Array.isArray(variants)) return variantField(variants, scope, value, depth, isRequired);
  const types = [resolved.type ?? (resolved.properties ? "object" : undefined)].flat();
  if (types.length > 1) return variantField(types.map((type) => ({ ...resolved, type, title: type })), scope, value, depth, isRequired);
  switch (types[0]) {
    case "object":
      return resolved.properties ? objectField(resolved, scope, value, depth) : rawField(value ?? {}, scope);
    case "array":
      return arrayField(resolved, scope, value, depth);
    case "boolean":
      return choiceField([[true, "true"], [false, "false"]], scope, value, isRequired);
    case "number":
    case "integer":
      return numberField(resolved, types[0], value);
    case "string":
      return stringField(resolved, value);
    case "null":
      return constField(null, scope);
    default:
      return rawField(value, scope);
  }
}

function objectField(schema, scope, value, depth) {
  const required = new Set(schema.required);
  const parts = Object.entries(schema.properties).map(([name, part]) => {
    const known = resolve(part, scope);
    const given = member(value, name) ?? known.default;
    const isRequired = required.has(name);
    const inner = field(isRequired ? { ...known, isRequired } : known, scope, given, depth + 1);
    return { name, inner, isRequired, element: labelled(name, known, inner, isRequired) };
  });
  const read = (mistakes) => {
    const object = {};
    const missing = [];
    for (const { name, inner, isRequired } of parts) {
      const known = mistakes.length;
      const it = inner.read(mistakes);
      // An assignment to `__proto__` would make no member.
      if (it !== undefined) Object.defineProperty(object, name, { value: it, enumerable: true });
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

function arrayField(schema, scope, value, depth) {
  const items = [];
  const list = el("div", {});
  const part = { ...resolve(schema.items, scope), isRequired: true };
  const add = (inner) => {
    controlOf(inner)?.setAttribute("aria-label", `Item ${items.length + 1}`);
    const remove = button("Remove", () => {
      items.splice(items.indexOf(item), 1);
      item.element.remove();
    });
    const item = { inner, element: el("div", { class: "row" }, inner.element, remove) };
    items.push(item);
    list.append(item.element);
  };
  for (const it of Array.isArray(value) ? value : []) add(field(part, scope, it, depth + 1));
  const element = el("div", {}, list, button("Add an item", () => add(laterField(part, scope, undefined, depth + 1))));
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

function variantField(variants, scope, value, depth, isRequired) {
  const known = variants.map((it) => resolve(it, scope));
  const names = known.map((it, n) => variantName(it, scope) ?? `variant ${n + 1}`);
  const counts = new Map();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  // Two variants of the same name have numbers.
  const labels = names.map((name, n) => (counts.get(name) === 1 ? name : `${name} ${n + 1}`));
  // An object with a tag is never empty, so that leaving it out is a choice.
  const canMiss = !isRequired && known.every((it) => it.properties || it.type === "null");
  const select = el("select", { "aria-label": "Variant" }, canMiss ? el("option", { value: "" }, NOT_SET) : null, labels.map((label, n) => el("option", { value: n }, label)));
  const holder = el("div", {});
  let inner;
  const show = (make, given) => {
    inner = select.value === "" ? undefined : make({ ...known[select.value], isRequired: isRequired || canMiss }, scope, given, depth + 1);
    fill(holder, inner?.element);
  };
  const fitting = value === undefined ? -1 : known.findIndex((it) => fits(it, value, scope));
  if (fitting >= 0) select.value = String(fitting);
  select.addEventListener("change", () => show(laterField));
  show(field, value);
  return { element: el("div", {}, select, holder), read: (mistakes) => inner?.read(mistakes), isGroup: true };
}

/** The name of a variant: its title, the value of its tag, or its only member. */
function variantName(schema, scope) {
  const { title, const: value, properties = {}, required, type } = schema;
  if (title !== undefined) return title;
  if (value !== undefined) return text(value);
  const names = Object.keys(properties);
  const tags = names.map((name) => tagOf(properties[name], scope)).filter((it) => it !== undefined);
  if (tags.length) return tags.map(text).join(" ");
  return names.length === 1 && required?.includes(names[0]) ? names[0] : type && text(type);
}

/** The only value of a member. */
function tagOf(schema, scope) {
  const { const: value, enum: values } = resolve(schema, scope);
  return value ?? (values?.length === 1 ? values[0] : undefined);
}

/** Returns true if a value has the type and the tags of a variant, or the required members of one without tags. */
function fits({ type, const: only, properties = {}, required = [] }, value, scope) {
  if (only !== undefined) return isEqual(only, value);
  const own = typeOf(value);
  if (own !== "object") return type === undefined || type === own || (type === "integer" && own === "number");
  const tags = Object.entries(properties).map(([name, part]) => [name, tagOf(part, scope)]).filter(([, tag]) => tag !== undefined);
  const hasMember = (name) => Object.hasOwn(value, name);
  return tags.length ? tags.every(([name, tag]) => isEqual(tag, member(value, name))) : (type ?? own) === own && required.every(hasMember);
}

/** The choice of an optional field that is left out. */
const NOT_SET = "not set";

function choiceField(choices, scope, value, isRequired) {
  spend(scope, choices.length);
  const options = choices.map(([, label], n) => {
    const name = text(label);
    spend(scope, weight(name));
    return el("option", { value: n }, name);
  });
  // A required field has no empty choice: a single one is chosen, and of several the user has to choose one.
  const empty = isRequired ? el("option", { value: "", disabled: true, hidden: true }, "choose") : el("option", { value: "" }, NOT_SET);
  const select = el("select", {}, isRequired && choices.length === 1 ? null : empty, options);
  const chosen = choices.findIndex(([it]) => isEqual(it, value));
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
  const input = isLong ? el("textarea", props) : el("input", { type: member(INPUTS, schema.format) ?? "text", ...props });
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

/** Steps that a pattern of the server may take in the browser. */
const MAX_STEPS = 20_000;

/** Returns true also for a pattern that the browser cannot use, or that may take too long. The server checks it anyway. */
function matches(pattern, value) {
  try {
    return pattern === undefined || steps(pattern, value.length) > MAX_STEPS || new RegExp(pattern, "u").test(value);
  } catch {
    return true;
  }
}

/** Bounds the steps of a search that goes back at each choice: `Infinity` for repeated groups and references back. */
function steps(pattern, length) {
  if (pattern.length > 500 || /\\[1-9k]/.test(pattern)) return Infinity;
  // Escapes and classes are one character.
  const plain = pattern.replace(/\\[upP]\{[^}]*\}|\\[^]|\[(?:\\[^]|[^\]\\])*\]/g, "x");
  if (/\)[*+?{]|\(\?(?!:)/.test(plain)) return Infinity;
  // `{4}` is not a choice.
  const repeats = plain.replaceAll("(?:", "(").match(/[*+?]|\{\d+,\d*\}/g)?.length ?? 0;
  const alternatives = plain.match(/\|/g)?.length ?? 0;
  const starts = plain.startsWith("^") && alternatives === 0 ? 0 : 1;
  return (length + 1) ** (repeats + starts + 1) * 2 ** alternatives;
}

function constField(value, scope) {
  const name = text(value);
  spend(scope, weight(name));
  return { element: el("code", {}, name), read: () => value, isConst: true };
}

function rawField(value, scope) {
  const area = el("textarea", { spellcheck: "false", placeholder: "JSON", "aria-label": "JSON" });
  area.value = value === undefined ? "" : jsonText(value);
  if (scope) spend(scope, weight(area.value));
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

const isText = (it) => typeof it === "string";
const isObject = (it) => typeof it === "object" && it !== null && !Array.isArray(it);
const isAny = (it) => it !== undefined;

/** The keywords that a form reads, with their types. One of another type is like none. */
const KEYWORDS = {
  title: isText, description: isText, pattern: isText, format: isText,
  type: (it) => isText(it) || (Array.isArray(it) && it.every(isText)),
  properties: isObject, items: isObject, required: Array.isArray, enum: Array.isArray, enumNames: Array.isArray, oneOf: Array.isArray, anyOf: Array.isArray,
  minimum: isNumber, maximum: isNumber, exclusiveMinimum: isNumber, exclusiveMaximum: isNumber, multipleOf: isNumber,
  minLength: isNumber, maxLength: isNumber, minItems: isNumber, maxItems: isNumber,
  const: isAny, default: isAny, isRequired: isAny,
};

/** The parts that a text or a list counts as. */
const weight = (it) => (isText(it) ? it.length / 1_000 : Array.isArray(it) ? it.length / 10 : isObject(it) ? Object.keys(it).length / 10 : 0);

/** Follows references inside of the schema. Returns the keywords that a form reads. */
function resolve(schema, scope) {
  let current = { ...known(schema, scope), $ref: member(schema, "$ref") };
  for (let step = 0; step < 16 && isText(current.$ref) && current.$ref.startsWith("#"); step += 1) {
    const { $ref, ...beside } = current;
    const found = target($ref, scope);
    current = { $ref: member(found, "$ref"), ...known(found, scope), ...beside };
  }
  const { $ref, ...keywords } = current;
  return keywords;
}

/** The keywords of a schema that have the right type. */
function known(schema, scope) {
  const found = Object.entries(KEYWORDS).map(([name, isRight]) => [name, member(schema, name), isRight]).filter(([, it, isRight]) => isRight(it));
  spend(scope, 1 + found.reduce((sum, [, it]) => sum + weight(it), 0));
  return Object.fromEntries(found);
}

/** The schema at which a reference points. */
function target($ref, scope) {
  const path = $ref.slice(1).split("/").slice(1);
  spend(scope, path.length / 10);
  try {
    return path.reduce((it, name) => member(it, decodeURIComponent(name).replaceAll("~1", "/").replaceAll("~0", "~")), scope.root);
  } catch {
    // Such as `#/%`.
    return undefined;
  }
}

function defaultOf(schema, scope) {
  return resolve(schema, scope).default;
}

function typeOf(value) {
  if (value === null) return "null";
  if (isNumber(value)) return "number";
  return Array.isArray(value) ? "array" : typeof value;
}

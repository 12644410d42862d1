// JSON whose numbers stay as they are written. JavaScript has no other numbers than doubles.

/** A number with its own text, where JavaScript would write another one: 1.0, 12345678901234567890, 1e400. */
class Exact extends Number {
  constructor(text) {
    super(text);
    this.text = text;
  }

  toString() {
    return this.text;
  }

  toJSON() {
    return JSON.rawJSON(this.text);
  }
}

/** Finds numbers that may change. Most messages have none, and are read without a look at each value. */
const CHANGING = /(?:^|[:,[\s])-?(?:0\b|\d+[.eE]|\d{16})/;

/** Reads JSON. `JSON.stringify` writes its numbers as they were. */
export function parse(text) {
  if (!CHANGING.test(text) || !JSON.rawJSON) return JSON.parse(text);
  try {
    return JSON.parse(text, (_, value, { source }) => (typeof value === "number" && String(value) !== source ? new Exact(source) : value));
  } catch (error) {
    // Too deep for a look at each value.
    if (error instanceof RangeError) return JSON.parse(text);
    throw error;
  }
}

export const isNumber = (value) => typeof value === "number" || value instanceof Number;

/** A number that compares exactly: integers of up to 1,000 digits. */
export const exact = (value) => (/^-?\d{1,1000}$/.test(String(value)) ? BigInt(String(value)) : Number(value));

/** Deepest level that is indented. */
const MAX_DEPTH = 64;

/** Longest text that indentation makes, in characters. */
const MAX_INDENTED = 1_000_000;

/**
 * Indents JSON text. Only white space between its tokens changes: not numbers, escapes, or members that are repeated.
 * A text that would become too long is returned as it came.
 */
export function indented(text, unit = "  ") {
  const tokens = /[^\s"[\]{},:]+|["[\]{},:]/g;
  const out = [];
  let length = 0;
  let depth = 0;
  let last = "";
  const add = (part) => {
    length += part.length;
    out.push(part);
  };
  for (let found = tokens.exec(text); found; found = tokens.exec(text)) {
    if (length > MAX_INDENTED) return text;
    let [token] = found;
    if (token === '"') {
      let end = tokens.lastIndex;
      while (end < text.length && text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
      token = text.slice(found.index, end + 1);
      tokens.lastIndex = end + 1;
    }
    const isEnd = token === "]" || token === "}";
    if (isEnd) depth -= 1;
    const isEmpty = isEnd && (last === "[" || last === "{");
    if (!isEmpty && (isEnd || last === "[" || last === "{" || last === ",")) add(`\n${unit.repeat(Math.max(0, Math.min(depth, MAX_DEPTH)))}`);
    add(token);
    if (token === ":") add(" ");
    if (token === "[" || token === "{") depth += 1;
    last = token;
  }
  return length > MAX_INDENTED ? text : out.join("");
}

/** Returns true if two JSON values are equal. The order of members does not matter. */
export function isEqual(left, right) {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  const isList = Array.isArray(left);
  if (isList !== Array.isArray(right) || (isList && left.length !== right.length)) return false;
  const names = Object.keys(left);
  return names.every((name) => Object.hasOwn(right, name) && isEqual(left[name], right[name])) && names.length === Object.keys(right).length;
}

/** A member of a JSON value. What JavaScript gives each object, such as `constructor`, is not one. */
export const member = (value, name) => (typeof value === "object" && value !== null && Object.hasOwn(value, name) ? value[name] : undefined);

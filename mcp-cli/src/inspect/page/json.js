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

/** A number that compares exactly: integers of any size. */
export const exact = (value) => (/^-?\d+$/.test(String(value)) ? BigInt(String(value)) : Number(value));

/** Deepest level that is indented. */
const MAX_DEPTH = 64;

/** Indents JSON text. Only white space between its tokens changes: not numbers, escapes, or members that are repeated. */
export function indented(text) {
  const tokens = /[^\s"[\]{},:]+|["[\]{},:]/g;
  const out = [];
  let depth = 0;
  let last = "";
  const line = () => out.push("\n", "  ".repeat(Math.min(depth, MAX_DEPTH)));
  for (let found = tokens.exec(text); found; found = tokens.exec(text)) {
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
    if (!isEmpty && (isEnd || last === "[" || last === "{" || last === ",")) line();
    out.push(token);
    if (token === ":") out.push(" ");
    if (token === "[" || token === "{") depth += 1;
    last = token;
  }
  return out.join("");
}

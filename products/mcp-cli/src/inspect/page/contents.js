// Contents of results: text, pictures, audio, links, resources.

import { sentResult } from "./backend.js";
import { el, fill, json, link, plain } from "./dom.js";
import { indented } from "./json.js";

/** Pictures and sounds that the page shows. */
const PICTURES = /^image\/(png|jpeg|gif|webp|avif|svg\+xml)$/;
const SOUNDS = /^audio\/[a-z0-9.+-]+$/;

/** Shows a content block, which is the `n`th of its result. One that is not as its type says is shown as JSON. */
export function content(block, n = 0) {
  try {
    return typed(block, n);
  } catch {
    return el("div", { class: "content" }, json(block));
  }
}

function typed(block, n) {
  const parts = () => {
    switch (block?.type) {
      case "text":
        return text(block.text, n);
      case "image":
        return picture(block);
      case "audio":
        return sound(block);
      case "resource":
        return resource(block.resource, n);
      case "resource_link":
        return [el("a", { href: `#resources/${encodeURIComponent(block.uri)}` }, block.title ?? block.name ?? block.uri), el("p", { class: "quiet" }, block.uri)];
      default:
        return json(block);
    }
  };
  const audience = block?.annotations?.audience;
  return el("div", { class: "content" }, Array.isArray(audience) ? el("p", { class: "quiet" }, `for ${audience.join(", ")}`) : null, parts());
}

/** Shows the contents of a resource. */
function resource(contents, n) {
  const mime = contents?.mimeType ?? "";
  const head = el("p", { class: "quiet" }, `${contents?.uri ?? ""} ${mime}`);
  if (typeof contents?.text === "string") {
    return [head, text(contents.text, n, mime === "text/markdown")];
  }
  if (PICTURES.test(mime)) return [head, picture({ data: contents.blob, mimeType: mime })];
  if (SOUNDS.test(mime)) return [head, sound({ data: contents.blob, mimeType: mime })];
  return [head, el("p", {}, `${Math.floor(((contents?.blob?.length ?? 0) * 3) / 4)} bytes`)];
}

function picture({ data, mimeType }) {
  if (!PICTURES.test(mimeType)) return el("p", {}, `a picture of the type ${mimeType}`);
  return el("img", { src: `data:${mimeType};base64,${data}`, alt: "Picture of the server" });
}

function sound({ data, mimeType }) {
  if (!SOUNDS.test(mimeType)) return el("p", {}, `a sound of the type ${mimeType}`);
  return el("audio", { controls: true, src: `data:${mimeType};base64,${data}` });
}

/** A result as JSON, as the server has sent it: the client reads only what it knows. */
export function resultAsJson(result, key) {
  const holder = el("div", {});
  const details = el("details", {}, el("summary", {}, "Result as JSON"), holder);
  // Its message may arrive after the result.
  details.addEventListener("toggle", () => details.open && fill(holder, json(sentResult(key) ?? result)));
  return details;
}

/** Longest text that is also shown in another way. */
const MAX_SWITCHED = 200_000;

/** Texts that the user has switched, for this tab: they are shown so again. */
const SWITCHED = "switched texts";

/** Shows text as it came, with a switch: JSON can be indented, and everything else is perhaps Markdown. */
export function text(value, n = 0, isMarkdown = false) {
  if (typeof value !== "string") return json(value);
  if (value.length > MAX_SWITCHED || value.trim() === "") return plain(value);
  const isJson = isJsonText(value);
  const key = `${location.hash} ${n}`;
  const known = () => JSON.parse(sessionStorage.getItem(SWITCHED)) ?? {};
  const holder = el("div", { class: "prose" });
  const box = el("input", { type: "checkbox", checked: known()[key] ?? (isMarkdown && !isJson) });
  const show = () => fill(holder, !box.checked ? plain(value) : isJson ? plain(indented(value)) : markdown(value));
  box.addEventListener("change", () => {
    try {
      sessionStorage.setItem(SWITCHED, JSON.stringify({ ...known(), [key]: box.checked }));
    } catch {
      // The browser has no room for it.
    }
    show();
  });
  show();
  return [el("label", { class: "check switch" }, box, isJson ? "Indented" : "Markdown"), holder];
}

function isJsonText(value) {
  if (!/^\s*[[{]/.test(value)) return false;
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}

/** Headings, lists, code, bold text and links. Everything else stays text. */
export function markdown(text) {
  const out = [];
  const lines = text.split("\n");
  let paragraph = [];
  const end = () => {
    if (paragraph.length) out.push(el("p", {}, inline(paragraph.join("\n"))));
    paragraph = [];
  };
  for (let n = 0; n < lines.length; n += 1) {
    const line = lines[n];
    const heading = /^#{1,6}(?=\s)/.exec(line);
    if (line.startsWith("```")) {
      end();
      const code = [];
      for (n += 1; n < lines.length && !lines[n].startsWith("```"); n += 1) code.push(lines[n]);
      out.push(el("pre", { tabindex: "0" }, code.join("\n")));
    } else if (heading) {
      end();
      out.push(el("p", {}, el("strong", {}, inline(line.slice(heading[0].length).trim()))));
    } else if (itemOf(line) !== undefined) {
      end();
      const items = [];
      for (let item = itemOf(line); item !== undefined; item = itemOf(lines[(n += 1)] ?? "")) items.push(el("li", {}, inline(item)));
      n -= 1;
      out.push(el("ul", {}, items));
    } else if (line.trim() === "") {
      end();
    } else {
      paragraph.push(line);
    }
  }
  end();
  return out;
}

/** The text of a list item. */
function itemOf(line) {
  const text = line.trimStart();
  return /^[-*+]\s/.test(text) ? text.slice(2).trimStart() : undefined;
}

/** Code, bold text and links, which end in the line in which they begin. */
function inline(text) {
  const out = [];
  for (const [n, line] of text.split("\n").entries()) {
    if (n > 0) out.push("\n");
    inlineOf(line, out);
  }
  return out;
}

/** The target of a link behind its text. */
const TARGET = /\(([^()\s]+)\)/y;

/** Adds the parts of a line to `out` in one pass: a search that several beginnings share is made once. */
function inlineOf(line, out) {
  let last = 0;
  let at = 0;
  const add = (end, part) => {
    if (at > last) out.push(line.slice(last, at));
    out.push(part);
    last = end;
    at = end;
  };
  // The next end of a link's text, and the target behind it.
  let close = -1;
  let target;
  while (at < line.length) {
    if (line[at] === "`") {
      const end = line.indexOf("`", at + 1);
      if (end > at + 1) {
        add(end + 1, el("code", {}, line.slice(at + 1, end)));
        continue;
      }
    } else if (line[at] === "*" && line[at + 1] === "*") {
      const end = line.indexOf("*", at + 2);
      if (end > at + 2 && line[end + 1] === "*") {
        add(end + 2, el("strong", {}, line.slice(at + 2, end)));
        continue;
      }
    } else if (line[at] === "[") {
      if (close <= at) {
        close = line.indexOf("]", at + 1);
        if (close < 0) close = Infinity;
        TARGET.lastIndex = close + 1;
        target = close === Infinity ? null : TARGET.exec(line);
      }
      if (target) {
        add(close + 1 + target[0].length, link(line.slice(at + 1, close) || target[1], target[1]));
        continue;
      }
    }
    at += 1;
  }
  if (last < line.length) out.push(line.slice(last));
}

// Elements. Text of servers gets into the page as text nodes only, never as markup.

import { indented } from "./json.js";

/** Makes an element. `props` are attributes; those that begin with `on` are listeners. */
export function el(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "disabled") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  fill(element, ...children);
  return element;
}

/** Children that are added at once: a call has room for about 100,000 arguments. */
const AT_ONCE = 1_000;

/** Replaces the children of an element. A value that is not a node is shown as text. */
export function fill(element, ...children) {
  const parts = children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false);
  const nodes = parts.map((part) => (part instanceof Node ? part : written(part)));
  element.replaceChildren(...nodes.slice(0, AT_ONCE));
  for (let n = AT_ONCE; n < nodes.length; n += AT_ONCE) element.append(...nodes.slice(n, n + AT_ONCE));
}

/** Shown for a value that the browser cannot write as JSON. */
const TOO_DEEP = "(nested too deeply)";

/** A value of a server as text, whatever its type is: an object with a member `toString` has no text of its own. */
export function written(value) {
  if (typeof value === "string") return value;
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return TOO_DEEP;
  }
}

/** A link to another web page. Only http and https: other schemes can run scripts or programs. */
export function link(text, target) {
  let url;
  try {
    url = new URL(target);
  } catch {
    return el("span", {}, text);
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") return el("span", {}, text);
  return el("a", { href: url.href, target: "_blank", rel: "noopener noreferrer" }, text);
}

/** Text as it is, with its white space. It can be scrolled by keyboard. */
export const plain = (text) => el("pre", { tabindex: "0" }, text);

/** A value as indented JSON. */
export const json = (value) => plain(jsonText(value));

/** A value as the text of indented JSON. */
export function jsonText(value) {
  const text = typeof value === "string" ? JSON.stringify(value) : written(value);
  return text === TOO_DEEP ? text : indented(text);
}

/** A button. */
export function button(text, onclick, props = {}) {
  return el("button", { type: "button", onclick, ...props }, text);
}

/** A button that copies a text, which `make` makes. */
export function copyButton(label, make) {
  const copy = async () => {
    await navigator.clipboard.writeText(make());
    element.textContent = "Copied";
    setTimeout(() => (element.textContent = label), 1200);
  };
  const element = button(label, copy);
  return element;
}

/** Calls `run` at most once per frame. */
export function throttled(run) {
  let isPlanned = false;
  return () => {
    if (isPlanned) return;
    isPlanned = true;
    requestAnimationFrame(() => {
      isPlanned = false;
      run();
    });
  };
}

/** A size for people. */
export function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KiB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

// The command palette.

import { el, fill } from "./dom.js";

/** Opens the palette with commands: a label, and a function. */
export function open(dialog, commands) {
  const input = el("input", { type: "search", role: "combobox", "aria-label": "Command", "aria-expanded": "true", "aria-controls": "found", placeholder: "Go to, call, reconnect" });
  const list = el("ul", { id: "found", role: "listbox", "aria-label": "Commands" });
  let found = [];
  let at = 0;
  const choose = (command) => {
    dialog.close();
    command?.run();
  };
  const paint = () => {
    fill(list, found.map((command, n) => el("li", { role: "option", id: `option-${n}`, "aria-selected": String(n === at), onclick: () => choose(command) }, command.label)));
    input.setAttribute("aria-activedescendant", found.length ? `option-${at}` : "");
    list.children[at]?.scrollIntoView({ block: "nearest" });
  };
  const search = () => {
    const words = input.value.toLowerCase().split(/\s+/);
    found = commands.filter(({ label }) => words.every((word) => label.toLowerCase().includes(word))).slice(0, 100);
    at = 0;
    paint();
  };
  input.addEventListener("input", search);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") choose(found[at]);
    else if (event.key === "ArrowDown") at = Math.min(found.length - 1, at + 1);
    else if (event.key === "ArrowUp") at = Math.max(0, at - 1);
    else return;
    event.preventDefault();
    paint();
  });
  fill(dialog, input, list);
  search();
  dialog.showModal();
  input.focus();
}

// The differences between the server and the snapshot of the command line.

import { bus, diff, store } from "./backend.js";
import { el, fill } from "./dom.js";

/** What a difference means to clients of the snapshot. */
const IMPACTS = [
  ["breaking", "bad", "Clients may fail, or read results wrongly."],
  ["compatible", "warn", "Clients continue to work."],
  ["cosmetic", "quiet", "Only texts, icons and other annotations differ."],
];
/** Differences of one impact that are shown. */
const SHOWN = 500;

export function show(root) {
  const status = el("p", { class: "quiet", role: "status" }, "comparing");
  const list = el("div", {});
  fill(root, el("h2", {}, "Changes"), status, list);
  let run = 0;
  const update = async () => {
    run += 1;
    const mine = run;
    try {
      const { file, impact, differences } = await diff();
      if (mine !== run) return;
      status.textContent = impact ? `${differences.length} differences from ${file}` : `no differences from ${file}`;
      fill(list, IMPACTS.map(([name, kind, text]) => group(differences.filter((it) => it.impact === name), name, kind, text)));
    } catch (error) {
      status.textContent = store.state.connected ? error.message : "not connected";
      fill(list);
    }
  };
  bus.addEventListener("state", update);
  bus.addEventListener("changed", update);
  update();
  return () => {
    bus.removeEventListener("state", update);
    bus.removeEventListener("changed", update);
  };
}

function group(differences, name, kind, text) {
  if (!differences.length) return null;
  const rest = differences.length - SHOWN;
  return [
    el("h3", { class: kind }, `${name} (${differences.length})`),
    el("p", { class: "quiet" }, text),
    el("table", {}, differences.slice(0, SHOWN).map(({ path, reason }) => el("tr", {}, el("th", { scope: "row" }, el("code", {}, path)), el("td", {}, reason)))),
    rest > 0 ? el("p", { class: "quiet" }, `${rest} more: \`mcp diff\` prints them`) : null,
  ];
}

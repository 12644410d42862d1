// Log messages of the server.

import { bus, request, store } from "./backend.js";
import { el, fill, throttled, written } from "./dom.js";

const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
/** Messages that are shown. */
const SHOWN = 500;

export function show(root) {
  const least = el("select", { "aria-label": "Least level" }, LEVELS.map((level) => el("option", {}, level)));
  const status = el("span", { class: "quiet", role: "status" });
  const ask = el("select", { "aria-label": "Level of the server" }, el("option", { value: "" }, "unchanged"), LEVELS.map((level) => el("option", {}, level)));
  const body = el("tbody", {});
  const table = el("table", {}, el("thead", {}, el("tr", {}, ["Time", "Level", "Logger", "Message"].map((it) => el("th", { scope: "col" }, it)))), body);
  fill(root, el("h2", {}, "Logs"),
    el("div", { class: "row" }, el("label", { class: "compact" }, "Show", least), el("label", { class: "compact" }, "Ask the server for", ask), status), table);
  const update = throttled(() => {
    const from = LEVELS.indexOf(least.value);
    const shown = store.logs.filter(({ message }) => LEVELS.indexOf(message.params?.level) >= from).slice(-SHOWN).reverse();
    fill(body, shown.map(({ ms, message: { params } }) => {
      const kind = LEVELS.indexOf(params?.level) >= 4 ? "bad" : LEVELS.indexOf(params?.level) === 3 ? "warn" : "quiet";
      return el("tr", {}, el("td", {}, `${(ms / 1000).toFixed(2)} s`), el("td", { class: kind }, params?.level ?? ""), el("td", {}, params?.logger ?? ""), el("td", { class: "text" }, params?.data === undefined ? "" : written(params.data)));
    }));
  });
  least.addEventListener("change", update);
  ask.addEventListener("change", async () => {
    try {
      await request("logging/setLevel", { level: ask.value || null });
      status.textContent = "";
    } catch (error) {
      status.textContent = error.message;
    }
  });
  bus.addEventListener("messages", update);
  update();
  return () => bus.removeEventListener("messages", update);
}

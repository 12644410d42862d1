// The server: who it is, what it offers, and how the revision was negotiated.

import { bus, request, setRoots, store } from "./backend.js";
import { runner } from "./catalog.js";
import { text } from "./contents.js";
import { button, el, fill, json, jsonText, link } from "./dom.js";
import { parse } from "./json.js";

export function show(root) {
  const update = () => fill(root, body(store.state));
  bus.addEventListener("state", update);
  update();
  return () => bus.removeEventListener("state", update);
}

function body(state) {
  if (!state.connected) {
    const reason = store.failure ?? state.closed;
    return [
      el("h2", {}, "Not connected"),
      reason ? el("p", { class: "bad", role: "alert" }, reason) : el("p", { class: "quiet" }, "connecting"),
      reason && state.login ? el("p", {}, el("a", { href: "#login" }, "Log in at the server")) : null,
    ];
  }
  const server = state.server ?? {};
  const rows = [
    ["Name", server.name],
    ["Version", server.version],
    ["Protocol", `${state.version} (asked for ${state.protocol})`],
    ["Capabilities", Object.keys(state.capabilities ?? {}).join(", ")],
    ["Extensions", Object.keys(state.capabilities?.extensions ?? {}).join(", ")],
    ["Website", server.websiteUrl ? link(server.websiteUrl, server.websiteUrl) : null],
  ].filter(([, value]) => value);
  return [
    el("h2", {}, server.title ?? server.name ?? state.target),
    server.description ? el("p", { class: "text" }, server.description) : null,
    el("table", {}, rows.map(([name, value]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, value)))),
    state.droppedTools?.length ? [el("h3", {}, "Tools that clients refuse"), el("ul", {}, state.droppedTools.map((it) => el("li", { class: "warn" }, it)))] : null,
    state.instructions ? [el("h3", {}, "Instructions"), el("div", { class: "content" }, text(state.instructions))] : null,
    el("h3", {}, "Negotiation"),
    el("table", {}, state.negotiation.map((it) => el("tr", {}, el("th", { scope: "row" }, it.method), el("td", {}, it.version), el("td", {}, it.outcome)))),
    el("h3", {}, "Capabilities"),
    json(state.capabilities),
    el("h3", {}, "Roots"),
    roots(state.roots ?? []),
    el("h3", {}, "Any request"),
    custom(),
  ];
}

function roots(known) {
  const area = el("textarea", { "aria-label": "Roots, one file URI per line", placeholder: "file:///home/ada/project" });
  area.value = known.join("\n");
  const status = el("span", { class: "quiet", role: "status" });
  const save = async () => {
    try {
      await setRoots(area.value.split("\n").map((line) => line.trim()).filter(Boolean));
      status.textContent = "saved";
    } catch (error) {
      status.textContent = error.message;
    }
  };
  return el("div", {}, area, el("div", { class: "row" }, button("Save the roots", save), status));
}

/** A form for any request, with the method and the parameters to begin with. */
export function custom(startMethod = "ping", startParams = {}) {
  const method = el("input", { value: startMethod, "aria-label": "Method" });
  const params = el("textarea", { "aria-label": "Parameters as JSON" });
  params.value = jsonText(startParams);
  const run = runner("Send", () => request(method.value, parse(params.value)), json);
  return el("form", { onsubmit: run.start }, el("div", { class: "field" }, method), params, run.element);
}

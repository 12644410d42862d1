// Tools with a user interface, shown in a sandbox of another origin.

import { bus, closeApp, openApp, sendToApp, store } from "./backend.js";
import { catalog, listOf } from "./catalog.js";
import { button, el, fill } from "./dom.js";
import { toolForm } from "./tools.js";

/** Notes about a view that are shown. */
const SHOWN = 200;

export function show(root, selected) {
  const leavers = new Set();
  const leave = catalog(root, selected, {
    name: "apps",
    change: "tools",
    load: async () => {
      const { tools = [] } = (await listOf("tools/list", undefined, "tools")) ?? {};
      return tools.filter((tool) => typeof uriOf(tool) === "string");
    },
    key: (tool) => tool.name,
    label: (tool) => tool.title ?? tool.name,
    note: uriOf,
    detail: (tool) => {
      const { elements, stop } = detail(tool);
      for (const other of leavers) other();
      leavers.clear();
      leavers.add(stop);
      return elements;
    },
  });
  return () => {
    leave();
    for (const stop of leavers) stop();
  };
}

/** The document of a tool: `_meta.ui.resourceUri`, or its older spelling. */
const uriOf = (tool) => tool._meta?.ui?.resourceUri ?? tool._meta?.["ui/resourceUri"];

function detail(tool) {
  const fields = toolForm(tool);
  const status = el("p", { role: "status", class: "quiet" });
  const holder = el("div", {});
  const notes = el("ul", { "aria-label": "Notes of the view" });
  let stop = () => {};
  const start = async (event) => {
    event.preventDefault();
    stop();
    status.textContent = "opening";
    try {
      const opened = await openApp({ tool: tool.name, arguments: fields.read(), dark: matchMedia("(prefers-color-scheme: dark)").matches });
      status.textContent = `${opened.uri} with the policy ${opened.csp}`;
      stop = frame(opened.view, holder, notes);
    } catch (error) {
      status.textContent = error.message;
    }
  };
  const close = button("Close", () => {
    stop();
    stop = () => {};
    status.textContent = "closed";
  });
  const elements = [
    el("h2", {}, tool.title ?? tool.name),
    el("p", { class: "text" }, tool.description ?? ""),
    el("form", { novalidate: true, onsubmit: start }, fields.element, el("div", { class: "row" }, el("button", { type: "submit", class: "primary" }, "Call and show"), close)),
    status, holder, notes,
  ];
  return { elements, stop: () => stop() };
}

/** Shows the frame of a view. Returns the function that removes it. */
function frame(view, holder, notes) {
  const origin = `http://127.0.0.1:${store.state.sandbox}`;
  const outer = el("iframe", {
    class: "app", title: "View of the tool", sandbox: "allow-scripts allow-same-origin", referrerpolicy: "no-referrer",
    src: `${origin}/?${new URLSearchParams({ view, page: location.origin })}`,
  });
  const fromFrame = ({ source, origin: from, data }) => {
    if (source !== outer.contentWindow || from !== origin) return;
    sendToApp(view, JSON.stringify(data)).catch((error) => note("failed", error.message));
  };
  const note = (what, text) => {
    notes.prepend(el("li", { class: what === "failed" ? "bad" : "" }, `${what}: ${text ?? ""}`));
    if (notes.childElementCount > SHOWN) notes.lastElementChild.remove();
  };
  const toFrame = ({ detail }) => {
    if (detail.view !== view) return;
    if (detail.kind === "app") outer.contentWindow?.postMessage(JSON.parse(detail.message), origin);
    else note(detail.what, detail.text);
  };
  addEventListener("message", fromFrame);
  bus.addEventListener("app", toFrame);
  fill(notes);
  fill(holder, outer);
  return () => {
    const gone = () => {
      removeEventListener("message", fromFrame);
      bus.removeEventListener("app", toFrame);
      outer.remove();
    };
    // The view may say goodbye before it is removed.
    closeApp(view).then(gone, gone);
  };
}

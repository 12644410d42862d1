// A list with a filter beside the details of one item, for tools, prompts and resources.

import { bus, request, store } from "./backend.js";
import { button, el, fill } from "./dom.js";
import { cards } from "./questions.js";

/**
 * Shows the items of a list. `view` has `name` (of the view), `load` (the items), `key`, `label` and `note`
 * of an item, `detail` (its element), and `change` (the kind of change after which the list is read again).
 */
export function catalog(root, selected, view) {
  const filter = el("input", { type: "search", class: "filter", "aria-label": `Filter ${view.name}`, placeholder: "Filter" });
  const list = el("ul", { class: "items" });
  const status = el("p", { class: "quiet", role: "status" }, "loading");
  const again = button("Reload", () => {
    lists.clear();
    load();
  });
  const details = el("section", { "aria-label": "Details" });
  const back = selected === undefined ? null : el("a", { class: "back", href: `#${view.name}` }, `All ${view.name}`);
  const kind = selected === undefined ? "split" : "split chosen";
  fill(root, back, el("div", { class: kind }, el("section", { "aria-label": view.name }, filter, el("div", { class: "row" }, status, again), list), details));
  let items = [];
  let described;

  const show = () => {
    const wanted = filter.value.toLowerCase();
    const shown = items.filter((item) => `${view.label(item)} ${view.note(item) ?? ""}`.toLowerCase().includes(wanted));
    status.textContent = `${shown.length} of ${items.length}`;
    fill(list, shown.map((item) => {
      const key = view.key(item);
      const href = `#${view.name}/${encodeURIComponent(key)}`;
      return el("li", {}, el("a", { href, "aria-current": key === selected ? "true" : null }, view.label(item), el("small", {}, view.note(item) ?? "")));
    }));
  };
  const load = async () => {
    try {
      items = await view.load();
    } catch (error) {
      status.textContent = error.message;
      return;
    }
    show();
    const item = items.find((it) => view.key(it) === selected);
    // Details of the same item stay: they may have a result, or a call that runs.
    const description = JSON.stringify(item);
    if (item && description === described) return;
    described = description;
    if (item) fill(details, view.detail(item));
    else if (selected !== undefined && view.missing) fill(details, view.missing(selected));
    else fill(details, el("p", { class: "quiet" }, items.length ? "Choose one from the list." : "The server has none."));
  };
  const reload = ({ detail }) => {
    if (detail.what === view.change || detail.what === "missed") load();
  };
  filter.addEventListener("input", show);
  // Down leads from the filter into the list, and through it.
  root.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const links = [...list.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement);
    if (at < 0 && document.activeElement !== filter) return;
    event.preventDefault();
    const next = links[at + (event.key === "ArrowDown" ? 1 : -1)] ?? filter;
    next.focus();
  });
  bus.addEventListener("changed", reload);
  bus.addEventListener("state", load);
  load();
  return () => {
    bus.removeEventListener("changed", reload);
    bus.removeEventListener("state", load);
  };
}

/** Lists of the server, by method, until it announces a change. */
const lists = new Map();
for (const event of ["state", "changed"]) bus.addEventListener(event, () => lists.clear());

/** Reads a list of the server; without a name, the whole result. A server without the feature has an empty one. */
export async function listOf(method, name, capability) {
  if (!store.state.connected) throw new Error(store.failure ?? "not connected");
  if (capability && !store.state.capabilities?.[capability]) return name ? [] : {};
  if (!lists.has(method)) lists.set(method, request(method));
  const list = lists.get(method);
  try {
    const result = await list;
    return name ? result[name] : result;
  } catch (error) {
    if (lists.get(method) === list) lists.delete(method);
    throw error;
  }
}

/** A button that sends a request, a button that cancels it, and the outcome below. `show` receives the result and the key. */
export function runner(label, send, show) {
  const outcome = el("div", { "aria-live": "polite" });
  const time = el("span", { class: "quiet" });
  const progress = el("div", {});
  const asked = el("div", {});
  const run = el("button", { type: "submit", class: "primary" }, label);
  const cancel = el("button", { type: "button", disabled: true }, "Cancel");
  const controls = el("div", { class: "row controls" }, run, cancel, time);
  const output = el("div", { class: "output" }, progress, asked, outcome);
  let running;
  const start = async (event) => {
    event?.preventDefault();
    if (running) return;
    fill(outcome);
    time.textContent = "";
    try {
      running = send();
    } catch (error) {
      // The request cannot be made of what the user has written.
      fill(outcome, el("p", { class: "bad", role: "alert" }, error.message));
      return;
    }
    time.textContent = "running";
    const begun = performance.now();
    const { key } = running;
    const stop = follow(key, progress);
    const questions = cards((count) => count && reveal(output), (it) => it.call === key);
    fill(asked, questions.element, questions.unnamed);
    try {
      run.disabled = true;
      cancel.disabled = false;
      const result = await running;
      fill(outcome, show(result, key));
    } catch (error) {
      fill(outcome, el("p", { class: "bad", role: "alert" }, error.message));
    } finally {
      stop();
      questions.stop();
      fill(asked);
      fill(progress);
      time.textContent = `${(performance.now() - begun).toFixed(0)} ms`;
      running = undefined;
      run.disabled = false;
      cancel.disabled = true;
      reveal(output);
    }
  };
  cancel.addEventListener("click", () => running?.cancel());
  return { start, controls, output, element: el("div", {}, controls, output) };
}

/** Shows the progress of a call, and the status messages of its task. Returns the function that ends it. */
function follow(key, holder) {
  const seen = {};
  const show = (part) => {
    Object.assign(seen, part);
    const { done, total, text, status } = seen;
    const number = done === undefined ? status : `${done}${total ? ` of ${total}` : ""}`;
    fill(holder, el("progress", { value: total ? done : undefined, max: total || undefined, "aria-label": "Progress" }), el("p", { class: "quiet" }, [number, text].filter(Boolean).join(": ")));
  };
  const onMessage = ({ detail: { head, message } }) => {
    if (head?.call !== key || message?.method !== "notifications/progress") return;
    const { progress: done, total, message: text } = message.params ?? {};
    show({ done, total, text });
  };
  const onTask = ({ detail: { call, task } }) => {
    if (call !== key) return;
    // A task reports no numbers: those from before it are old, and a bar without them moves.
    show({ done: undefined, total: undefined, status: task.status, text: task.statusMessage ?? seen.text });
  };
  bus.addEventListener("messages", onMessage);
  bus.addEventListener("tasks", onTask);
  return () => {
    bus.removeEventListener("messages", onMessage);
    bus.removeEventListener("tasks", onTask);
  };
}

/** Scrolls to the outcome of a call if it is out of sight: below or above a long form. */
function reveal(output) {
  const { top, bottom } = output.getBoundingClientRect();
  const isSeen = (top >= 0 && bottom <= innerHeight) || (top < innerHeight / 2 && bottom > innerHeight / 4);
  if (!isSeen) output.scrollIntoView({ block: "start" });
}

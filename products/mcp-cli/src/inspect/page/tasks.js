// Calls that run as tasks on the server, with their states.

import { bus, request, store } from "./backend.js";
import { content } from "./contents.js";
import { button, el, fill, json, throttled } from "./dom.js";
import { cards } from "./questions.js";

/** States after which a task no longer changes. */
const ENDED = ["completed", "failed", "cancelled"];

export function show(root, selected) {
  const list = el("ul", { class: "items" });
  const details = el("section", { "aria-label": "Details" });
  let asked = 0;
  const isAsked = ({ call }) => Boolean(call) && call === store.tasks.get(selected)?.call;
  const questions = cards((count) => (asked = count), isAsked);
  const back = selected === undefined ? null : el("a", { class: "back", href: "#tasks" }, "All tasks");
  fill(root, back, el("div", { class: selected === undefined ? "split" : "split chosen" },
    el("section", { "aria-label": "tasks" }, el("h2", {}, "Tasks"), follower(), list), details));
  const update = throttled(() => {
    fill(list, [...store.tasks.values()].reverse().map(({ id, tool, states }) =>
      el("li", {}, el("a", { href: `#tasks/${encodeURIComponent(id)}`, "aria-current": id === selected ? "true" : null },
        `${tool ?? "task"} ${states.at(-1).task.status}`, el("small", {}, states.at(-1).task.statusMessage ?? id)))));
    const task = store.tasks.get(selected);
    const none = store.tasks.size ? "Choose one from the list." : "No call has become a task. Call a tool that runs as one, or follow one by its id.";
    fill(details, task ? [...detail(task, asked > 0), questions.element] : el("p", { class: "quiet" }, none));
  });
  // The state of a task changes only after its question is answered.
  bus.addEventListener("questions", update);
  bus.addEventListener("tasks", update);
  update();
  return () => {
    questions.stop();
    bus.removeEventListener("questions", update);
    bus.removeEventListener("tasks", update);
  };
}

/** Follows a task that another program has started. */
function follower() {
  const id = el("input", { "aria-label": "Id of a task", placeholder: "Id of a task", required: true, autocomplete: "off" });
  const status = el("p", { class: "bad", role: "alert" });
  const follow = async (event) => {
    event.preventDefault();
    status.textContent = "";
    try {
      await request("tasks/result", { taskId: id.value.trim() });
    } catch (error) {
      status.textContent = error.message;
    }
  };
  return el("form", { onsubmit: follow }, el("div", { class: "row" }, id, el("button", { type: "submit" }, "Follow")), status);
}

function detail({ id, tool, states }, isAsked) {
  const { task } = states.at(-1);
  const isOver = ENDED.includes(task.status);
  const status = el("span", { class: "quiet", role: "status" }, !isOver && isAsked ? "The server waits for an answer." : "");
  const cancel = async () => {
    try {
      await request("tasks/cancel", { taskId: id });
    } catch (error) {
      status.textContent = error.message;
    }
  };
  return [
    el("h2", {}, tool ?? "Task"),
    el("p", {}, el("code", {}, id)),
    isOver || isAsked ? null : [el("progress", { "aria-label": "Progress" }), el("p", { class: "quiet" }, task.statusMessage ?? task.status)],
    el("div", { class: "row" }, isOver ? null : button("Cancel the task", cancel), status),
    el("h3", {}, "States"),
    el("table", {}, states.map(({ ms, task: it }) => el("tr", {},
      el("th", { scope: "row", class: "time" }, `${(ms / 1000).toFixed(2)} s`), el("td", { class: kind(it.status) }, it.status), el("td", {}, it.statusMessage ?? "")))),
    task.result ? [el("h3", {}, "Result"), (task.result.content ?? []).map(content)] : null,
    task.error ? el("p", { class: "bad" }, `${task.error.code} ${task.error.message}`) : null,
    el("details", {}, el("summary", {}, "Task as JSON"), json(task)),
  ];
}

const kind = (status) => ({ completed: "good", failed: "bad", cancelled: "warn", input_required: "warn" })[status] ?? "quiet";

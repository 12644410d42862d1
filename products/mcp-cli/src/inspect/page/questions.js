// Questions of the server: forms, URLs, and messages for a language model.

import { answer, bus, store } from "./backend.js";
import { content } from "./contents.js";
import { button, el, fill, json } from "./dom.js";
import { form } from "./forms.js";

export function show(root) {
  const empty = el("p", { class: "quiet" }, "The server asks nothing. Its questions appear here while a call waits for them.");
  const { element, stop } = cards((count) => (empty.hidden = count > 0));
  fill(root, el("h2", {}, "Questions"), empty, element);
  return stop;
}

/** The open questions that `accepts` selects, until `stop` is called. `counted` receives their number. */
export function cards(counted = () => {}, accepts = () => true) {
  const shown = new Map();
  const list = el("div", {});
  const unnamed = el("p", { class: "warn" }, "The server asks a question. In this revision it does not tell for which of the running calls: ", el("a", { href: "#questions" }, "Questions"));
  const update = () => {
    for (const [id, element] of shown) {
      if (store.questions.has(id)) continue;
      element.remove();
      shown.delete(id);
    }
    for (const [id, question] of store.questions) {
      if (shown.has(id) || !accepts(question)) continue;
      const element = card(question);
      shown.set(id, element);
      list.append(element);
    }
    unnamed.hidden = [...store.questions.values()].every((it) => it.method);
    counted(shown.size);
  };
  bus.addEventListener("questions", update);
  update();
  return { element: list, unnamed, stop: () => bus.removeEventListener("questions", update) };
}

function card(question) {
  const problem = question.problem ? el("p", { class: "bad", role: "alert" }, question.problem) : null;
  const refuse = el("span", { class: "row" },
    button("Decline", () => answer(question.id, "decline")),
    button("Cancel", () => answer(question.id, "cancel")));
  return el("section", { class: "content", "aria-label": "Question" },
    el("p", { class: "quiet" }, asker(question)), problem, KINDS[question.type](question, refuse));
}

/** Names the call that asks, and the server. */
function asker({ item, method, asker: server }) {
  if (!method) return `${server} asks; this revision does not tell for which call`;
  return [el("strong", {}, item ?? method), ` asks (${method} at ${server})`];
}

const KINDS = {
  form({ id, params }, refuse) {
    const fields = form(params.requestedSchema);
    const error = el("p", { class: "bad", role: "alert" });
    const send = (event) => {
      event.preventDefault();
      try {
        answer(id, "accept", fields.read());
      } catch (problem) {
        error.textContent = problem.message;
      }
    };
    return [
      el("p", { class: "text" }, params.message),
      el("form", { novalidate: true, onsubmit: send }, fields.element, error, el("div", { class: "row" }, el("button", { type: "submit", class: "primary" }, "Accept"), refuse)),
    ];
  },

  // The user sees the whole URL and its host before it is opened.
  url({ id, params }, refuse) {
    const url = new URL(params.url);
    const isSafe = url.protocol === "https:" || url.protocol === "http:";
    const open = () => {
      window.open(url.href, "_blank", "noopener,noreferrer");
      answer(id, "accept");
    };
    return [
      el("p", { class: "text" }, params.message),
      el("p", {}, "It wants to open ", el("code", {}, params.url)),
      el("p", {}, "The host is ", el("strong", {}, url.host)),
      el("div", { class: "row" }, isSafe ? button("Open it and accept", open, { class: "primary" }) : null, refuse),
    ];
  },

  sampling({ id, params }, refuse) {
    const text = el("textarea", { "aria-label": "Answer of the model" });
    const model = el("input", { value: "by-hand", "aria-label": "Name of the model" });
    const send = (event) => {
      event.preventDefault();
      answer(id, "accept", { role: "assistant", model: model.value, stopReason: "endTurn", content: { type: "text", text: text.value } });
    };
    const messages = (params.messages ?? []).map((message) => {
      const blocks = Array.isArray(message.content) ? message.content : [message.content];
      return el("div", {}, el("h3", {}, message.role), blocks.map((block) => content(block)));
    });
    return [
      el("p", {}, "It asks a language model. You answer in its place."),
      params.systemPrompt ? el("p", { class: "quiet text" }, params.systemPrompt) : null,
      messages,
      el("details", {}, el("summary", {}, "Request as JSON"), json(params)),
      el("form", { onsubmit: send }, text, el("div", { class: "row" }, model, el("button", { type: "submit", class: "primary" }, "Answer"), refuse)),
    ];
  },
};

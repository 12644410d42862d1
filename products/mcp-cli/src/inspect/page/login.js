// The login at the server, step by step and without secrets.

import { bus, login, store } from "./backend.js";
import { button, el, fill, json } from "./dom.js";

const DOCUMENTS = { resource: "The metadata of the server", server: "The metadata of the authorization server", registration: "The response to the registration", other: "A document" };

const STEPS = {
  challenged: ({ status }) => ["The server demands a login", `status ${status}`],
  fetched: ({ document, url, contents }) => [
    `${DOCUMENTS[document] ?? DOCUMENTS.other} is read`,
    el("details", {}, el("summary", {}, url), json(contents)),
  ],
  discovered: ({ issuer }) => ["The documents of the authorization server are found", issuer],
  registered: ({ issuer }) => ["The client is registered", issuer],
  started: ({ page, scopes }) => ["The login page is ready", `${page}${scopes ? `, scopes: ${scopes}` : ""}`],
  authorized: ({ scopes, expiresIn }) => ["A token is issued", `${scopes ? `scopes: ${scopes}` : ""}${expiresIn ? ` expires in ${expiresIn} s` : ""}`],
  refreshed: ({ expiresIn }) => ["The token is renewed", expiresIn ? `expires in ${expiresIn} s` : ""],
  restored: () => ["A stored token is used", ""],
  loggedOut: () => ["The token is removed", ""],
  failed: ({ text }) => ["The login has failed", text],
  ended: ({ error }) => (error ? ["The login has ended without a token", error] : ["The login is complete", ""]),
  other: () => ["A step without a description", ""],
};

let running;

export function show(root) {
  const status = el("p", { class: "bad", role: "alert" });
  const start = button("Log in", async () => {
    if (running) return;
    status.textContent = "";
    try {
      running = login(document.getElementById("revision").value);
      update();
      await running;
    } catch (error) {
      status.textContent = error.message;
    } finally {
      running = undefined;
      update();
    }
  }, { class: "primary" });
  const cancel = button("Cancel", () => running?.cancel());
  const open = button("Open the login page", () => window.open(pageOf(), "_blank", "noopener,noreferrer"), { class: "primary" });
  const body = el("tbody", {});
  const hint = el("p", { class: "quiet" });
  fill(root, el("h2", {}, "Login"), hint, el("div", { class: "row" }, start, cancel, open), status, el("table", {}, body));
  const update = () => {
    const canLogIn = store.state.login === true;
    hint.textContent = canLogIn
      ? "The login page opens in a tab of its own. The token is stored as by `mcp login`, and the page never sees it."
      : "The server is a command, or its token is on the command line: there is nothing to log in to.";
    start.disabled = !canLogIn || Boolean(running);
    cancel.disabled = !running;
    open.hidden = pageOf() === undefined;
    // The step before it shows the page.
    fill(body, store.login.filter((it) => it.step !== "page").map((event) => {
      // A row is made once, so that its document stays open.
      event.row ??= row(event);
      return event.row;
    }));
  };
  bus.addEventListener("login", update);
  bus.addEventListener("state", update);
  update();
  return () => {
    bus.removeEventListener("login", update);
    bus.removeEventListener("state", update);
  };
}

function row(event) {
  const [what, more] = (STEPS[event.step] ?? STEPS.other)(event);
  const kind = event.step === "failed" || event.error ? "bad" : "";
  return el("tr", {}, el("th", { scope: "row", class: "time" }, `${(event.ms / 1000).toFixed(2)} s`), el("td", {}, el("div", { class: kind }, what), more ? el("div", { class: "quiet" }, more) : null));
}

/** The login page that waits to be opened. The authorization server names it, so its scheme is checked. */
function pageOf() {
  const last = store.login.findLastIndex((it) => it.step === "page");
  if (last < 0 || store.login.slice(last).some((it) => it.step === "ended")) return undefined;
  const url = URL.parse(store.login[last].open);
  return url?.protocol === "https:" || url?.protocol === "http:" ? url.href : undefined;
}

// The admin page: asks for the state of the servers again and again, and changes the rows in place, so that opened
// lists of tools stay open. Text of servers gets into the page as text only, never as markup.

/** Time between two requests, in milliseconds. */
const INTERVAL = 2000;

const rows = new Map();
const body = document.getElementById("servers");
const summary = document.getElementById("summary");
const filter = document.getElementById("filter");
const none = document.getElementById("none");

/** Makes an element with a class and children. */
function el(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

/** Changes a text only if it is another one, so that a selection stays. */
function text(element, value) {
  if (element.textContent !== value) element.textContent = value;
}

/** A cell with its heading, which narrow screens show. */
function cell(heading, className) {
  const element = el("td", className);
  element.dataset.heading = heading;
  return element;
}

/** Makes the row of a server. */
function row(name) {
  const title = el("th", "", name);
  title.scope = "row";
  const cells = {
    state: cell("State"),
    tools: cell("Tools"),
    prompts: cell("Prompts", "number"),
    resources: cell("Resources", "number"),
    running: cell("Running", "number"),
    calls: cell("Calls", "number"),
    failed: cell("Failed", "number"),
    mean: cell("Mean", "number"),
    failure: cell("Last failure"),
  };
  const state = el("span", "state");
  const reason = el("span", "reason");
  cells.state.append(state, reason);
  const count = el("summary");
  const list = el("ul");
  cells.tools.append(el("details", "", count, list));
  const element = el("tr", "", title, ...Object.values(cells));
  return { element, cells, state, reason, count, list, tools: undefined };
}

function show(row, server) {
  const { cells } = row;
  text(row.state, server.state);
  row.state.className = `state ${server.state}`;
  text(row.reason, server.reason ?? "");
  text(row.count, server.isListed ? String(server.tools.length) : "not listed");
  row.count.setAttribute("aria-label", `${server.tools.length} tools of ${server.name}`);
  const names = [...server.tools, ...server.held.map((tool) => `${tool} (held)`)];
  const tools = names.join("\n");
  if (row.tools !== tools) {
    row.tools = tools;
    row.list.replaceChildren(...names.map((name) => el("li", "", name)));
  }
  text(cells.prompts, String(server.prompts));
  text(cells.resources, String(server.resources + server.templates));
  text(cells.running, String(server.running));
  text(cells.calls, String(server.succeeded + server.failed + server.interrupted));
  text(cells.failed, String(server.failed));
  cells.failed.classList.toggle("bad", server.failed > 0);
  const mean = server.meanMilliseconds;
  text(cells.mean, mean === null ? "–" : `${mean.toFixed(mean < 10 ? 1 : 0)} ms`);
  const failure = server.lastFailure;
  const time = failure && new Date(failure.unixSeconds * 1000).toLocaleTimeString();
  text(cells.failure, failure ? `${time} ${failure.text}` : "–");
  row.found = `${server.name}\n${server.state}\n${tools}`.toLowerCase();
}

function update({ servers }) {
  const names = new Set(servers.map((server) => server.name));
  for (const [name, { element }] of rows) {
    if (names.has(name)) continue;
    element.remove();
    rows.delete(name);
  }
  servers.forEach((server, index) => {
    if (!rows.has(server.name)) rows.set(server.name, row(server.name));
    const shown = rows.get(server.name);
    show(shown, server);
    if (body.children[index] !== shown.element) body.insertBefore(shown.element, body.children[index] ?? null);
  });
  const running = servers.filter((server) => server.state === "running").length;
  const down = servers.filter((server) => server.state === "down").length;
  text(summary, `${servers.length} servers, ${running} running${down ? `, ${down} down` : ""}`);
  summary.className = down ? "bad" : "good";
  applyFilter();
}

function applyFilter() {
  const wanted = filter.value.trim().toLowerCase();
  let shown = 0;
  for (const { element, found } of rows.values()) {
    element.hidden = !found.includes(wanted);
    if (!element.hidden) shown += 1;
  }
  none.hidden = shown > 0 || rows.size === 0;
}

async function follow() {
  try {
    const response = await fetch("api/status");
    if (!response.ok) throw new Error(await response.text());
    update(await response.json());
  } catch (error) {
    text(summary, `the gateway does not answer: ${error.message}`);
    summary.className = "bad";
  }
  setTimeout(follow, INTERVAL);
}

filter.addEventListener("input", applyFilter);
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target === filter) return;
  event.preventDefault();
  filter.focus();
});
follow();

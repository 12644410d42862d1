// The first script of the page. It loads the others after the first paint: loading them before would delay it.

/** All other modules. Those that are not preloaded are loaded one after the other, as each is found in an import. */
const MODULES = [
  "main.js", "backend.js", "json.js", "dom.js", "forms.js", "contents.js", "palette.js", "catalog.js", "server.js", "tools.js", "prompts.js", "resources.js",
  "questions.js", "apps.js", "skills.js", "tasks.js", "changes.js", "login.js", "logs.js", "protocol.js", "message.js", "copies.js",
];
/** Query of the page if it was loaded again. */
const AGAIN = "?again";
/** Longest wait for the first paint in milliseconds: a covered window is not painted. */
const LIMIT = 1_000;

let isStarted = false;

async function start() {
  if (isStarted) return;
  isStarted = true;
  for (const name of MODULES) {
    const link = document.createElement("link");
    link.rel = "modulepreload";
    link.href = `page/${name}`;
    document.head.append(link);
  }
  try {
    await import("./main.js");
  } catch (error) {
    document.getElementById("status").textContent = `The page cannot start: ${error.message}`;
  }
}

// The user has opened the page in a window that another page has opened, and can still reach. What this page loads gets the
// policy that separates the two.
if (window.opener && location.search !== AGAIN) location.replace(`${AGAIN}${location.hash}`);
else if (document.hidden) start();
else {
  new PerformanceObserver(start).observe({ type: "paint", buffered: true });
  setTimeout(start, LIMIT);
}

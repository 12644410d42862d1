// A browser that shows a view of MCP Apps: `browser_view.mjs CHROMIUM URL` opens the page of a host, whose
// functions `toHost` and `toView` are the lines of stdout and stdin. The hosts of the view's scripts and data
// are answered here, without a network. Fails if the page fails.
import { readFile } from "node:fs/promises";
import readline from "node:readline";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const LIMIT = 30_000;
const library = fileURLToPath(import.meta.resolve("@modelcontextprotocol/ext-apps/app-with-deps"));
const documents = {
  "/ext-apps.js": ["text/javascript", await readFile(library, "utf8")],
  "/script.js": ["text/javascript", ""],
  "/data": ["application/json", "{}"],
  "/frame.html": ["text/html", "<script>parent.postMessage('the frame runs', '*')</script>"],
};

const [executablePath, url] = process.argv.slice(2);
// Chromium refuses to run as root with its own sandbox. The pages are those of the test.
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"], timeout: LIMIT });
try {
  const page = await browser.newPage();
  page.setDefaultTimeout(LIMIT);
  page.on("console", (message) => console.error(message.text()));
  await page.route(/^https:\/\/[a-z]+\.example\//, (route) => {
    const [contentType, body] = documents[new URL(route.request().url()).pathname];
    return route.fulfill({ contentType, body, headers: { "access-control-allow-origin": "*" } });
  });
  await page.exposeFunction("toHost", (line) => { process.stdout.write(line + "\n"); });
  await page.goto(url);
  for await (const line of readline.createInterface({ input: process.stdin })) {
    await page.evaluate((text) => toView(text), line);
  }
} finally {
  await browser.close();
}

// The admin page of `mcp gateway` in a browser: `admin.mjs CHROMIUM MCP SERVER TIME HOSTILE`. SERVER is our server for the
// suite, TIME the server of PyPI, HOSTILE the server that tries to run scripts. Prints `ok` at the end.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import readline from "node:readline";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const LIMIT = 30_000;
const axe = await readFile(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");
const [executablePath, mcp, server, time, hostile] = process.argv.slice(2);
const folder = await mkdtemp(path.join(tmpdir(), "mcp-admin-"));
const file = path.join(folder, "gateway.toml");
const table = (name, command, ...args) => `[servers.${name}]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n`;
const servers = [
  table("everything", server, "--stdio"),
  table("time", time, "--local-timezone", "UTC"),
  table("hostile", process.execPath, hostile),
  table("lost", "mcp-no-such-program"),
];
const http = '[http]\nlisten = "127.0.0.1:0"\n[admin]\nport = 0\n';
await writeFile(file, http + servers.join(""));

const gateway = spawn(mcp, ["gateway", file], { stdio: ["ignore", "inherit", "pipe"] });
let browser;
try {
  const lines = readline.createInterface({ input: gateway.stderr });
  const found = (start) => new Promise((resolve) => lines.on("line", (line) => line.startsWith(start) && resolve(line.slice(start.length))));
  const [url, endpoint] = await Promise.all([found("admin page: "), found("listening on ")]);
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  page.setDefaultTimeout(LIMIT);
  const problems = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  await page.goto(url);
  await page.getByText("4 servers, 3 running, 1 down").waitFor();
  assert.ok(!page.url().includes("token"), "the token is in the address");

  const row = (name) => page.locator("tbody tr").filter({ has: page.getByRole("rowheader", { name, exact: true }) });
  const tools = row("time").locator("details");
  await tools.locator("summary").click();
  await tools.getByText("time__get_current_time").waitFor();
  assert.match(await row("lost").innerText(), /mcp-no-such-program/);
  await accessible(page);

  // A call is counted while the page is open, and the list stays open.
  const call = spawn(mcp, ["call", endpoint, "time__get_current_time", "timezone=UTC"], { stdio: "ignore" });
  assert.equal(await new Promise((resolve) => call.on("close", resolve)), 0);
  await row("time").locator("[data-heading=Calls]").getByText("1", { exact: true }).waitFor();
  await tools.getByText("time__get_current_time").waitFor();

  await page.keyboard.press("/");
  await page.keyboard.type("convert_time");
  await row("lost").waitFor({ state: "hidden" });
  await row("time").waitFor();
  await page.getByLabel("Filter").fill("");

  // A changed file removes a server from the page.
  await writeFile(file, http + servers.slice(0, 3).join(""));
  await row("lost").waitFor({ state: "detached" });

  await page.setViewportSize({ width: 400, height: 800 });
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= 400, `the page is ${width} pixels wide`);
  await page.emulateMedia({ colorScheme: "dark" });
  await accessible(page);

  assert.equal(await page.evaluate(() => window.hacked), undefined, "a script of the hostile server has run");
  assert.deepEqual(problems, []);
  console.log("ok");
} finally {
  await browser?.close();
  gateway.kill();
  await rm(folder, { recursive: true, force: true });
}

/** Fails if axe finds a serious problem. The policy of the page allows no foreign script, so it is evaluated. */
async function accessible(page) {
  const { violations } = await page.evaluate(`${axe}; axe.run(document, { resultTypes: ["violations"] })`);
  const serious = violations.filter((it) => ["serious", "critical"].includes(it.impact));
  assert.deepEqual(serious.map((it) => [it.id, it.nodes[0].html]), []);
}

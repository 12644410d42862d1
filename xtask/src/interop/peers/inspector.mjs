// The page of `mcp inspect` in a browser: `inspector.mjs TEST CHROMIUM MCP SERVER HOSTILE EVERYTHING [SCREENSHOTS]`.
// TEST is the name of a function below, SERVER our server for the suite, HOSTILE the server that tries to run scripts,
// EVERYTHING the server of npm.
// Prints `ok` at the end.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import readline from "node:readline";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { protectedServer } from "./protected_server.mjs";

const LIMIT = 30_000;
/** Loads of the page whose first paint is measured, in each round. */
const LOADS = 9;
/** Rounds of a measurement. One has to be good: other programs, such as other cases, disturb some. */
const ROUNDS = 10;
/** Largest median of the first paint in milliseconds. */
const MAX_PAINT = 100;
/** The same as a multiple of the first paint of a line of text from the same server, for slow and busy machines. */
const MAX_RATIO = 1.6;
/** Latest start of the modules in milliseconds, as in `start.js`. */
const LATEST_START = 1_000;
/** Largest sum of layout shifts: below 0.1 a page counts as stable. */
const MAX_SHIFT = 0.1;
/** Longest task of the page in milliseconds. */
const MAX_TASK = 200;
const REVISIONS = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
const axe = await readFile(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");
const [test, executablePath, mcp, server, hostile, npmServer, screenshots] = process.argv.slice(2);
const children = [];
/** The folder of the user: tokens of tests stay out of the real one. */
const home = await mkdtemp(`${tmpdir()}/inspector-`);

/** Starts the inspector of a server. Returns the URL of its page. */
async function inspect(...words) {
  const env = { ...process.env, HOME: home, XDG_DATA_HOME: `${home}/data`, MCP_CREDENTIALS: "file" };
  const child = spawn(mcp, ["inspect", "--no-open", ...words], { stdio: ["ignore", "pipe", "inherit"], env });
  children.push(child);
  for await (const line of readline.createInterface({ input: child.stdout })) return line;
  throw new Error("the inspector printed no URL");
}

/** Starts our server over HTTP. Returns its URL. */
async function httpServer() {
  const child = spawn(server, [], { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, PORT: "0" } });
  children.push(child);
  for await (const line of readline.createInterface({ input: child.stderr })) {
    const [url] = /http:\S+/.exec(line) ?? [];
    if (url) return url;
  }
  throw new Error("the server printed no URL");
}

/** Opens the page, and fails if a script of it fails or its policy is violated. */
async function open(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(LIMIT);
  page.problems = [];
  page.on("pageerror", (error) => page.problems.push(error.message));
  page.on("console", (message) => message.type() === "error" && page.problems.push(message.text()));
  await page.goto(url);
  await page.locator("#status.good").waitFor();
  assert.ok(!page.url().includes("token"), "the token is in the address");
  return page;
}

const view = (page, hash) => page.evaluate((it) => { location.hash = it; }, hash);

/** Fails if axe finds a serious problem. The policy of the page allows no foreign script, so it is evaluated. */
async function accessible(page, name) {
  const { violations } = await page.evaluate(`${axe}; axe.run(document, { resultTypes: ["violations"] })`);
  const serious = violations.filter((it) => ["serious", "critical"].includes(it.impact));
  assert.deepEqual(serious.map((it) => [it.id, it.nodes[0].html]), [], name);
}

/** Fails if the view has serious problems in light or dark colours, or scrolls sideways, at 1280 and at 390 pixels. */
async function looks(page, name) {
  const before = page.viewportSize();
  for (const width of [before.width, 390]) {
    await page.setViewportSize({ width, height: before.height });
    for (const colorScheme of ["light", "dark"]) {
      // Colours that change slowly are not yet those of the scheme.
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await fits(page, `${name} at ${width} pixels`);
      await accessible(page, `${name} at ${width} pixels in ${colorScheme} colours`);
    }
  }
  await page.emulateMedia({ colorScheme: null });
  await page.evaluate(() => new Promise(requestAnimationFrame));
  await page.emulateMedia({ reducedMotion: null });
  await page.setViewportSize(before);
}

/** Fails if the page or a part of the view is wider than its place, or the link of the view is out of sight. */
async function fits(page, name) {
  await page.waitForFunction(() => {
    const { left, right } = document.querySelector("nav [aria-current=page]").getBoundingClientRect();
    return left >= 0 && right <= innerWidth;
  });
  const wide = await page.evaluate(() => {
    const content = document.scrollingElement;
    const parts = [...document.querySelectorAll("main, main section, main form, main table, main .content")].filter((it) => it.scrollWidth > it.clientWidth && it.clientWidth > 0);
    return [...(content.scrollWidth > innerWidth ? ["page"] : []), ...parts.map((it) => `${it.tagName} ${it.className} ${it.scrollWidth} > ${it.clientWidth}`)];
  });
  assert.deepEqual(wide, [], `${name} is too wide`);
  // A word that fits into a line stands on one line. Code breaks anywhere.
  const broken = await page.evaluate(() => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = [];
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      if (text.parentElement.closest("pre, code, td, script, style")) continue;
      for (const { 0: word, index } of text.data.matchAll(/(?<!\S)[A-Za-z]{2,20}(?!\S)/g)) {
        const range = document.createRange();
        range.setStart(text, index);
        range.setEnd(text, index + word.length);
        if (new Set([...range.getClientRects()].map((it) => Math.round(it.top))).size > 1) found.push(word);
      }
    }
    return found;
  });
  assert.deepEqual(broken, [], `${name} breaks words`);
}

async function shot(page, name) {
  if (screenshots) await page.screenshot({ path: `${screenshots}/${name}.png` });
}

async function features(browser) {
  const page = await open(browser, await inspect("--", server, "--stdio"));
  for (const name of ["server", "tools", "prompts", "resources", "questions", "logs", "protocol"]) {
    await view(page, name);
    await page.locator(`nav [data-view=${name}][aria-current=page]`).waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.tagName), "BODY", `${name} moves the focus`);
    await accessible(page, name);
  }
  await shot(page, "protocol");

  await view(page, "tools/test_simple_text");
  await page.getByRole("button", { name: "Call" }).click();
  await page.getByText("This is a simple text response for testing.").first().waitFor();
  await accessible(page, "a call");
  await shot(page, "call");

  await page.getByText("Compare revisions").click();
  await page.getByRole("button", { name: "Call with each revision" }).click();
  await page.getByRole("rowheader", { name: "2024-11-05" }).waitFor();
  assert.equal(await page.locator("main table .bad, main table .warn").count(), 0);
  await shot(page, "revisions");

  await view(page, "tools/test_image_content");
  await page.getByRole("button", { name: "Call" }).click();
  await page.locator("main img").waitFor();
  const width = await page.locator("main img").evaluate((it) => it.decode().then(() => it.naturalWidth));
  assert.ok(width > 0, "the picture is not shown");

  // The form asks again for a field that does not fit.
  await view(page, "tools/test_elicitation");
  await page.getByLabel("message").fill("Who are you?");
  await page.getByRole("button", { name: "Call" }).click();
  await page.getByText("Who are you?").first().waitFor();
  await shot(page, "question");
  await page.getByLabel("username").fill("ada");
  await page.getByLabel("email").fill("ada@example.com");
  await page.getByRole("button", { name: "Accept" }).click();
  await page.getByText("ada@example.com").first().waitFor();

  await view(page, "tools/test_sampling");
  await page.getByLabel("prompt").fill("Say hello");
  await page.getByRole("button", { name: "Call" }).click();
  await page.getByLabel("Answer of the model").fill("Hello from Ada");
  await page.getByRole("button", { name: "Answer" }).click();
  await page.getByText("Hello from Ada").first().waitFor();

  await view(page, `resources/${encodeURIComponent("test://static-text")}`);
  await page.getByRole("button", { name: "Read" }).click();
  await page.locator("main .content pre").first().waitFor();

  await forms(page);

  // The menu has what the server has.
  const menu = await page.locator("nav a").filter({ visible: true }).evaluateAll((all) => all.map((it) => it.dataset.view));
  assert.ok(menu.includes("skills") && !menu.includes("changes") && !menu.includes("login"), `the menu has ${menu}`);

  // Search, details by keyboard, and the recording.
  await view(page, "protocol");
  await page.getByLabel("Search messages").fill("test_simple_text");
  await page.getByRole("row").filter({ hasText: "tools/call test_simple_text" }).first().click();
  await page.getByRole("button", { name: "Copy as Rust" }).waitFor();
  // The message is beside the list.
  const [list, message] = [await page.locator(".stream").boundingBox(), await page.getByLabel("Message", { exact: true }).boundingBox()];
  assert.ok(message.x >= list.x + list.width && Math.abs(message.y - list.y) < 20, JSON.stringify([list, message]));
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Command" }).fill("tools test_simple_text");
  await accessible(page, "commands");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "test_simple_text" }).waitFor();

  // Another revision, by keyboard.
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Command" }).fill("reconnect legacy");
  await page.keyboard.press("Enter");
  await page.getByText("connected, 2025-11-25").waitFor();

  assert.deepEqual(page.problems, []);
}

/** Arguments stay, lists are read once, and mistakes stand at their fields. */
async function forms(page) {
  const lists = () => page.evaluate(async () => {
    const { store } = await import("./page/backend.js");
    return store.messages.filter((it) => it.message?.method === "tools/list" && it.from === "client").length;
  });
  const open = async (name) => {
    await view(page, `tools/${name}`);
    await page.getByRole("heading", { name, exact: true }).waitFor();
  };
  await open("slow_compute");
  const before = await lists();
  await page.getByLabel("seconds").fill("12");
  await open("confirm_delete");
  await page.getByRole("button", { name: "Call" }).click();
  const field = page.getByLabel("filename");
  assert.equal(await field.getAttribute("aria-invalid"), "true");
  assert.equal(await field.evaluate((it) => document.getElementById(it.getAttribute("aria-describedby")).textContent), "required");
  await accessible(page, "a mistake");
  await open("slow_compute");
  assert.equal(await page.getByLabel("seconds").inputValue(), "12");
  assert.equal(await lists(), before, "a click on a tool has sent tools/list");
  // A page that is loaded again meanwhile does not end the new connection.
  await page.getByRole("button", { name: "Reconnect" }).click();
  await page.reload();
  await page.getByText(/^connected, /).waitFor();
  await page.getByRole("heading", { name: "slow_compute" }).waitFor();
  assert.equal(await page.getByLabel("seconds").inputValue(), "12");
  await page.getByRole("button", { name: "Reconnect" }).click();
  await page.getByText(/^connected, /).waitFor();
  assert.equal(await page.getByLabel("seconds").inputValue(), "12");

  // Every mistake at once, with the bounds that are shown before.
  const problems = await page.evaluate(async () => {
    const { form } = await import("./page/forms.js");
    const { draft, keepDraft } = await import("./page/backend.js");
    keepDraft("test", { a: 1 });
    const schema = {
      type: "object", required: ["count", "name", "tags", "point"],
      properties: {
        count: { type: "integer", minimum: 1, maximum: 10 }, name: { type: "string", minLength: 2, pattern: "^[a-z]+$" },
        tags: { type: "array", items: { type: "string" }, minItems: 1 }, point: { type: "object", properties: { x: { type: "number" } }, required: ["x"] },
        any: {},
      },
    };
    const made = form(schema, { count: 11, name: "a1" });
    document.querySelector("main").append(made.element);
    let error;
    try {
      made.read();
    } catch (it) {
      error = it.message;
    }
    const text = [...made.element.querySelectorAll(".hint")].map((it) => it.textContent);
    const mistakes = [...made.element.querySelectorAll(".mistake")].map((it) => it.textContent);
    made.element.remove();
    return { draft: draft("test"), error, text, mistakes };
  });
  assert.deepEqual(problems, {
    draft: { a: 1 },
    error: "4 fields have mistakes.",
    text: ["1 to 10", "at least 2 characters, matches ^[a-z]+$", "at least 1 items"],
    mistakes: ["must be 1 to 10", "must match ^[a-z]+$", "required", "required"],
  });
}

/** What was sent is shown, and what the user writes is sent. */
async function exact(browser) {
  const command = ["--protocol", "legacy", "--", process.execPath, fileURLToPath(new URL("server_exact.mjs", import.meta.url))];
  const page = await open(browser, await inspect(...command), { permissions: ["clipboard-read", "clipboard-write"] });
  await texts(page);
  await numbers(page);
  await variants(page);
  await longForm(page);
  await questionsOfTwoCalls(page);
  // The state changes with the end of the server.
  await view(page, "tools/die");
  await page.getByRole("button", { name: "Call", exact: true }).click();
  await page.getByText(/^disconnected: .*ended/).waitFor({ timeout: 2_000 });
  assert.match(await page.locator("#status").getAttribute("class"), /bad/);
  assert.deepEqual(page.problems, []);
}

/** Calls a tool without arguments. */
async function call(page, name) {
  await view(page, `tools/${name}`);
  await page.getByText(name, { exact: true }).last().waitFor();
  await page.getByRole("button", { name: "Call", exact: true }).click();
}

/** Text keeps its white space. Each block has a switch, which is remembered. */
async function texts(page) {
  await call(page, "texts");
  const blocks = page.locator(".output .content");
  await blocks.nth(4).waitFor();
  const log = await blocks.nth(0).locator("pre").textContent();
  assert.ok(log.includes("\n        at deeper   (main.rs:9)\n# not a heading\n- not a list\n* **not bold** and `no code`\n{not json"), log);
  assert.equal(await blocks.nth(1).locator("pre").textContent(), `name;amount;note\n# a comment\nAda;  12;"a, b"\nBob;1200;`);
  assert.equal(await page.locator(".output li, .output strong").count(), 0, "a text is changed");
  assert.equal(await blocks.nth(0).locator("pre").evaluate((it) => getComputedStyle(it).whiteSpace), "pre-wrap");
  await blocks.nth(3).getByLabel("Markdown").check();
  await blocks.nth(3).locator("strong", { hasText: "bold" }).waitFor();
  assert.equal(await blocks.nth(4).locator("pre").textContent(), "[1.0, 12345678901234567890]");
  await blocks.nth(4).getByLabel("Indented").check();
  assert.equal(await blocks.nth(4).locator("pre").textContent(), "[\n  1.0,\n  12345678901234567890\n]");
  await looks(page, "texts");
  await shot(page, "texts");
  await page.reload();
  await page.locator("#status.good").waitFor();
  await page.getByRole("button", { name: "Call", exact: true }).click();
  await blocks.nth(3).locator("strong", { hasText: "bold" }).waitFor();
  assert.equal(await blocks.nth(0).locator("pre").count(), 1, "the switch of a block is that of another");
}

/** Numbers are the text that was sent: in forms, in JSON, in results and in messages. */
async function numbers(page) {
  const sent = `{"id":12345678901234567890,"amount":1.0,"any":[12345678901234567890,1e400]}`;
  const indented = sent.replaceAll(/([:,])/g, "$1 ");
  const isShown = async (text) => {
    await page.waitForFunction((it) => [...document.querySelectorAll(".output pre")].some((pre) => pre.textContent.replaceAll(/\s/g, "") === it), text);
  };
  await view(page, "tools/numbers");
  await page.getByText("at most 18446744073709551615").waitFor();
  await page.getByLabel("id").fill("18446744073709551616");
  await page.getByRole("button", { name: "Call", exact: true }).click();
  await page.getByText("must be at most 18446744073709551615").waitFor();
  await page.getByLabel("id").fill("12345678901234567890");
  await page.getByLabel("amount").fill("1.0");
  await page.getByLabel("any").fill("[12345678901234567890, 1e400]");
  await page.getByRole("button", { name: "Call", exact: true }).click();
  await isShown(sent);
  await isShown(`{"big":12345678901234567890,"longer":123456789012345678901234567890,"one":1.0,"huge":1e400,"price":0.10,"zero":-0}`);
  // The arguments stay for the next time, and as JSON.
  await page.reload();
  await page.locator("#status.good").waitFor();
  assert.equal(await page.getByLabel("id").inputValue(), "12345678901234567890");
  await page.getByLabel("Write JSON").check();
  const area = page.getByRole("textbox", { name: "JSON" });
  assert.equal((await area.inputValue()).replaceAll(/\s/g, ""), sent);
  await area.fill(indented);
  await page.getByRole("button", { name: "Call", exact: true }).click();
  await isShown(sent);
  await view(page, "protocol");
  await page.getByRole("row").filter({ hasText: "tools/call numbers" }).last().click();
  const message = page.getByLabel("Message", { exact: true });
  const shown = (await message.locator("pre").first().textContent()).replaceAll(/\s/g, "");
  assert.ok(shown.includes(`"arguments":${sent}`), shown);
  await message.getByRole("button", { name: "Copy JSON" }).click();
  assert.equal((await page.evaluate(() => navigator.clipboard.readText())).replaceAll(/\s/g, ""), shown);
  await page.getByText("Send again").click();
  assert.ok((await message.getByLabel("Parameters as JSON").inputValue()).includes("12345678901234567890"));
  await looks(page, "a message");
  // What JavaScript would drop from JSON stays: repeated members, escapes, the order of members.
  const text = `{"b":[],"2":1E+2,"1":{},"a":"\\u0041\\"{","a":-0.0}`;
  const kept = await page.evaluate(async (it) => (await import("./page/json.js")).indented(it), text);
  assert.equal(kept, `{\n  "b": [],\n  "2": 1E+2,\n  "1": {},\n  "a": "\\u0041\\"{",\n  "a": -0.0\n}`);
}

/** Variants have the names of their tags. A select has no empty choice where a value is required. */
async function variants(page) {
  await view(page, "tools/draw");
  const options = async (name, n = 0) => {
    const select = page.getByLabel(name, { exact: true }).nth(n);
    await select.waitFor();
    return select.locator("option").evaluateAll((all) => all.map((it) => `${it.label}${it.disabled ? " (disabled)" : ""}`));
  };
  assert.deepEqual(await options("Variant"), ["circle", "square", "Any path"]);
  assert.deepEqual(await options("Variant", 1), ["not set", "Solid", "Pattern"]);
  assert.deepEqual(await options("color required"), ["choose (disabled)", "red", "green", "blue"]);
  assert.deepEqual(await options("unit required"), ["mm"]);
  assert.deepEqual(await options("style"), ["not set", "thin", "thick"]);
  await page.getByLabel("Variant", { exact: true }).first().selectOption("square");
  await page.getByLabel("side").fill("2.50");
  await page.getByLabel("color").selectOption("green");
  await looks(page, "variants");
  // The fields are still those of the chosen variant after a look at another tool.
  await view(page, "tools/texts");
  await page.getByRole("heading", { name: "Texts" }).waitFor();
  await view(page, "tools/draw");
  assert.equal(await page.getByLabel("side").inputValue(), "2.50");
  await page.getByRole("button", { name: "Call", exact: true }).click();
  await page.getByText(`{"shape":{"kind":"square","side":2.5},"color":"green","unit":"mm"}`).waitFor();
}

/** The button is in sight before a call with many fields, and the result after it. */
async function longForm(page) {
  const before = page.viewportSize();
  for (const [width, height] of [[1280, 800], [1800, 800], [390, 700]]) {
    await page.setViewportSize({ width, height });
    await view(page, "tools/texts");
    await page.getByRole("heading", { name: "Texts" }).waitFor();
    await view(page, "tools/report");
    await page.getByLabel("title").fill("May");
    const button = page.getByRole("button", { name: "Call", exact: true });
    const isInView = (locator) => locator.evaluate((it) => {
      const { top, bottom } = it.getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight && it.contains(document.elementFromPoint(it.getBoundingClientRect().x + 5, (top + bottom) / 2));
    });
    assert.ok(await isInView(button), `the button is out of sight at ${width} pixels`);
    await button.click();
    const result = page.getByText("The report May is ready.");
    await result.waitFor();
    await page.evaluate(() => new Promise(requestAnimationFrame));
    assert.ok(await isInView(result), `the result is out of sight at ${width} pixels`);
  }
  await page.setViewportSize(before);
}

/** A question is shown at its own call, with its name, and progress as well. */
async function questionsOfTwoCalls(page) {
  const send = (name, args = {}) => page.evaluate(async ([name, args]) => {
    const { request } = await import("./page/backend.js");
    request("tools/call", { name, arguments: args }).catch(() => {});
  }, [name, args]);
  await send("ask", { text: "Of the first call?" });
  const open = page.locator("nav [data-view=questions] .count");
  await page.waitForFunction(() => document.querySelector("nav [data-view=questions] .count").textContent === "1");
  await call(page, "wait");
  await page.getByText("running", { exact: true }).waitFor();
  // The server has the call now.
  await send("progress");
  await page.getByText("3 of 4: three quarters").waitFor();
  assert.equal(await page.locator(".output").getByText("Of the first call?").count(), 0, "the question of another call");
  // With two calls, a legacy session does not tell whose question it is.
  await send("ask", { text: "Of which call?" });
  await page.locator(".output").getByText(/does not tell for which/).waitFor();
  assert.equal(await page.locator(".output").getByText("Of which call?").count(), 0, "the question of another call");
  await looks(page, "a question of another call");
  await view(page, "questions");
  await page.getByText("ask asks (tools/call at").waitFor();
  assert.equal(await open.textContent(), "2");
  for (const text of ["Of the first call?", "Of which call?"]) {
    const card = page.getByRole("region", { name: "Question", exact: true }).filter({ hasText: text });
    await card.getByRole("button", { name: "Decline" }).click();
    await card.waitFor({ state: "detached" });
  }
  await page.getByText("The server asks nothing.").waitFor();
  // Progress of another call is not shown at this one.
  await call(page, "ask");
  await page.locator(".output").getByText(/does not tell for which/).waitFor();
  await send("progress");
  await send("release");
  await page.waitForFunction(async () => (await import("./page/backend.js")).store.messages.some((it) => it.message?.result?.content?.[0]?.text === "released"));
  assert.equal(await page.locator(".output progress").count(), 0, "the progress of another call");
  await view(page, "questions");
  await page.getByRole("button", { name: "Decline" }).click();
  await page.getByText("The server asks nothing.").waitFor();
  // A call that is alone has its question.
  await call(page, "ask");
  await page.locator(".output").getByText("ask asks (tools/call at").waitFor();
  await page.locator(".output").getByLabel("color").selectOption("red");
  await page.locator(".output").getByRole("button", { name: "Accept" }).click();
  await page.getByText(`{"action":"accept","content":{"color":"red"}}`).waitFor();
}

/** What HTTP adds to messages, copies of them, and violations of rules. */
async function messages(browser) {
  const url = await httpServer();
  const page = await open(browser, await inspect("--header", "X-Api-Key: secret-1", "--protocol", "legacy", `${url}?key=secret-2`), { permissions: ["clipboard-read", "clipboard-write"] });
  await view(page, "tools/test_tool_with_progress");
  await page.getByRole("button", { name: "Call" }).click();
  await page.getByText("The call was successful.").waitFor();
  await view(page, "protocol");
  await page.getByLabel("Search messages").fill("test_tool_with_progress");
  await page.getByRole("row").filter({ hasText: "tools/call" }).first().click();
  const details = page.getByLabel("Message", { exact: true });
  await details.getByRole("row", { name: "x-api-key (hidden)" }).waitFor();
  await details.getByRole("row", { name: "content-type text/event-stream" }).waitFor();
  assert.ok(!(await page.locator("body").innerText()).includes("secret-"), "a secret is shown");
  await details.getByRole("button", { name: "Copy as a test" }).click();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(copied, /async fn tools_call_test_tool_with_progress_succeeds\(\) -> mcp::Result<\(\)> \{/);
  assert.match(copied, /client\.call\("test_tool_with_progress", json!\(\{\}\)\)\.await\?;/);
  await looks(page, "a message with its head");
  await page.getByText("HTTP", { exact: true }).first().evaluate((it) => it.scrollIntoView());
  await shot(page, "head");
  await page.getByLabel("Search messages").fill("notifications/progress");
  await page.getByRole("row").filter({ hasText: "notifications/progress" }).first().click();
  await details.getByRole("row", { name: "SSE event message" }).waitFor();
  await page.getByLabel("Violations only").check();
  await page.getByText(/^0 of \d+$/).waitFor();
  assert.deepEqual(page.problems, []);

  const wrong = await open(browser, await inspect("--", process.execPath, hostile));
  await view(wrong, "tools/wrong");
  await wrong.getByRole("button", { name: "Call" }).click();
  await view(wrong, "protocol");
  await wrong.getByLabel("Violations only").check();
  await wrong.getByRole("row").filter({ hasText: "schema" }).waitFor();
  await wrong.getByRole("row").filter({ hasText: "TOOL-16" }).click();
  await wrong.getByRole("heading", { name: "Violations" }).waitFor();
  await looks(wrong, "violations");
  await shot(wrong, "violations");
}

/** Tasks, skills, and changes since a snapshot. */
async function extensions(browser) {
  const file = `${home}/before.json`;
  const before = JSON.parse(execFileSync(mcp, ["snapshot", "--", server, "--stdio"], { encoding: "utf8", maxBuffer: 1 << 26 }));
  before.tools[0].inputSchema.properties.gone = { type: "string" };
  before.tools[1].description = "Another text";
  await writeFile(file, JSON.stringify(before));
  const page = await open(browser, await inspect("--against", file, "--", server, "--stdio"));

  await view(page, "changes");
  await page.getByText("2 differences from").waitFor();
  await page.getByRole("heading", { name: "cosmetic (1)" }).waitFor();
  await looks(page, "changes");
  await shot(page, "changes");

  await view(page, "tools/confirm_delete");
  await page.getByLabel("filename").fill("a.txt");
  await page.getByRole("button", { name: "Call" }).click();
  await page.getByText("Delete a.txt?").first().waitFor();
  await view(page, "tasks");
  await page.getByRole("link", { name: /^confirm_delete/ }).click();
  await page.getByText("The server waits for an answer.").waitFor();
  await looks(page, "a task");
  await shot(page, "tasks");
  await page.getByLabel("confirm").selectOption("true");
  await page.getByRole("button", { name: "Accept" }).click();
  await page.getByRole("heading", { name: "Result" }).waitFor();

  // A task has its own questions only.
  await view(page, "tools/confirm_delete");
  await page.getByLabel("filename").fill("b.txt");
  await page.getByRole("button", { name: "Call" }).click();
  await page.locator(".output").getByText("Delete b.txt?").waitFor();
  await view(page, "tools/slow_compute");
  await page.getByLabel("seconds").fill("60");
  await page.getByRole("button", { name: "Call" }).click();
  await page.getByText("running", { exact: true }).waitFor();
  // The call moves with its task, and shows its status messages.
  await page.locator(".output").getByText("working: computing").waitFor();
  await page.locator(".output progress:not([value])").waitFor();
  await page.evaluate(async () => {
    const { bus, store } = await import("./page/backend.js");
    const { call, states } = [...store.tasks.values()].at(-1);
    const task = { ...states.at(-1).task, statusMessage: "half" };
    bus.dispatchEvent(new CustomEvent("tasks", { detail: { call, task } }));
    bus.dispatchEvent(new CustomEvent("tasks", { detail: { call: "other", task: { ...task, statusMessage: "of another call" } } }));
  });
  await page.locator(".output").getByText("working: half").waitFor();
  await view(page, "tasks");
  await page.getByRole("link", { name: "slow_compute working" }).click();
  await page.locator("main progress").waitFor();
  assert.equal(await page.getByText("Delete b.txt?").count(), 0, "the question of another task");
  await page.getByRole("button", { name: "Cancel the task" }).click();
  await page.getByRole("cell", { name: "cancelled" }).waitFor();

  await view(page, `skills/${encodeURIComponent("skill://refunds/SKILL.md")}`);
  await page.getByRole("button", { name: "Read", exact: true }).click();
  await page.getByText("Read references/limits.md first.").waitFor();
  await page.getByRole("button", { name: /limits.md/ }).click();
  await page.getByText("Refunds above 500 EUR need an approval.").waitFor();
  await looks(page, "a skill");
  await shot(page, "skills");
  await page.setViewportSize({ width: 400, height: 800 });
  for (const name of ["changes", "tasks", "skills", "login", "protocol"]) {
    await view(page, name);
    await page.locator(`nav [data-view=${name}][aria-current=page]`).waitFor();
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(overflow <= 0, `${name} is wider than 400 pixels`);
    await accessible(page, `${name} at 400 pixels`);
  }
  assert.deepEqual(page.problems, []);
}

/** The login at a server, step by step. */
async function login(browser) {
  const guarded = await protectedServer(await httpServer());
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  page.setDefaultTimeout(LIMIT);
  await page.goto(await inspect(guarded.url));
  await page.locator("#status.bad").waitFor();
  await page.getByRole("link", { name: "Log in at the server" }).click();
  await page.getByRole("button", { name: "Log in" }).click();
  const popup = context.waitForEvent("page");
  await page.getByRole("button", { name: "Open the login page" }).click();
  await popup;
  await page.getByText("The login is complete").waitFor();
  await page.locator("#status.good").waitFor();
  for (const step of ["The server demands a login", "The metadata of the server is read", "The metadata of the authorization server is read", "The response to the registration is read", "The documents of the authorization server are found", "The client is registered", "The login page is ready", "A token is issued"]) {
    await page.getByRole("cell", { name: step }).first().waitFor();
  }
  await page.getByText(/oauth-protected-resource/).first().click();
  await page.getByText(/"authorization_servers"/).first().waitFor();
  await page.getByText(/\/register$/).first().click();
  await page.getByText(/"registration_access_token": "\(hidden\)"/).first().waitFor();
  assert.doesNotMatch(await page.locator("body").innerText(), /secret-|state=|code_challenge"/);
  await looks(page, "login");
  await shot(page, "login");
  // The token is in no message.
  const seen = await page.evaluate(async () => {
    const { store } = await import("./page/backend.js");
    return JSON.stringify([store.messages.map(({ head, message, exchanges }) => [head, message, exchanges?.map(({ request, response }) => [request, response])]), [...store.exchanges.values()].map((it) => it.request)]);
  });
  assert.ok(seen.includes("authorization") && !seen.includes("secret"), "a secret is in the page");
  guarded.stop();
}

/** A view of a hostile server gets its result, and reaches neither the page nor its requests. */
async function apps(browser) {
  const page = await open(browser, await inspect("--", process.execPath, hostile));
  const address = page.url();
  await view(page, "apps/app");
  await page.getByRole("button", { name: "Call and show" }).click();
  const frame = page.frameLocator("iframe.app").frameLocator("iframe");
  await frame.getByText("for the view").waitFor();
  const note = page.getByLabel("Notes of the view").getByText(/^log: /);
  await note.waitFor();
  const outcome = JSON.parse((await note.innerText()).slice(5));
  const names = ["call", "cookie", "navigation", "page", "picture", "proxy", "state", "storage", "window"];
  assert.deepEqual(outcome, Object.fromEntries(names.map((name) => [name, "blocked"])));
  assert.equal(new URL(page.url()).origin, new URL(address).origin);
  // The proxy has the same host, and no access either: its requests have another origin.
  const proxy = page.frames().find((it) => it.url().includes("page="));
  const reached = await proxy.evaluate((url) => fetch(url, { credentials: "include" }).then(() => true, () => false), `${address.split("#")[0]}api/state`);
  assert.equal(reached, false);
  await looks(page, "a view");
  await shot(page, "apps");
  await page.getByRole("button", { name: "Close" }).click();
  await page.locator("iframe.app").waitFor({ state: "detached" });
}

/** A server that others have written: lists, a call with a form, a prompt, a resource and a log message. */
async function everything(browser) {
  const page = await open(browser, await inspect("--", process.execPath, npmServer));
  for (const name of ["server", "tools", "prompts", "resources", "logs", "protocol"]) {
    await view(page, name);
    await page.locator(`nav [data-view=${name}][aria-current=page]`).waitFor();
    await accessible(page, name);
  }
  await view(page, "tools/echo");
  await page.getByLabel("message").fill("seen");
  await page.getByRole("button", { name: "Call" }).click();
  await page.getByText("Echo: seen").first().waitFor();
  await view(page, "tools/get-sum");
  await page.getByLabel(/^a(?![a-z])/).fill("2");
  await page.getByLabel(/^b(?![a-z])/).fill("40");
  await page.getByRole("button", { name: "Call" }).click();
  await page.getByText("42").first().waitFor();
  // Text that repeats the structured content is shown once.
  await view(page, "tools/get-structured-content");
  await page.getByRole("combobox", { name: "location" }).selectOption({ label: "New York" });
  await page.getByRole("button", { name: "Call", exact: true }).click();
  await page.getByRole("heading", { name: "Structured content", exact: true }).waitFor();
  assert.equal(await page.locator("main .wide .content").count(), 0);
  await view(page, "protocol");
  await page.getByText(/^[1-9]\d* of \d+$/).waitFor();
  await page.getByLabel("Violations only").check();
  await page.getByText(/^0 of \d+$/).waitFor();
  assert.deepEqual(page.problems, []);
}

/** 390 pixels, and dark colours. */
async function look(browser) {
  const page = await open(browser, await inspect("--", server, "--stdio"), { viewport: { width: 390, height: 800 } });
  await view(page, "tools/test_simple_text");
  await page.getByRole("heading", { name: "test_simple_text" }).waitFor();
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(overflow <= 0, "the page is wider than 390 pixels");
  await accessible(page, "390 pixels");
  assert.deepEqual(page.problems, []);

  const dark = await open(browser, await inspect("--", server, "--stdio"), { colorScheme: "dark" });
  await view(dark, "tools/test_simple_text");
  await dark.getByRole("heading", { name: "test_simple_text" }).waitFor();
  await accessible(dark, "dark");
  await shot(dark, "dark");
}

/** 10,000 messages: the list shows some rows only, and no task of the page takes long while it scrolls and is filtered. */
async function many(browser) {
  const page = await open(browser, await inspect("--", server, "--stdio"));
  await view(page, "protocol");
  await page.evaluate(async () => {
    window.longest = 0;
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest, duration);
    }).observe({ type: "longtask" });
    window.backend = await import("./page/backend.js");
  });
  const search = page.getByLabel("Search messages");
  let longest;
  for (let round = 1; round <= ROUNDS; round += 1) {
    // New messages each time: the text for the search is made once for a message.
    await page.evaluate(() => {
      const { bus, forget, store } = window.backend;
      forget();
      for (let n = 0; n < 10_000; n += 1) {
        const message = { jsonrpc: "2.0", id: n, method: `test/${n}`, params: { text: `${n} `.repeat(200) } };
        store.messages.push({ kind: "message", number: n, ms: n, from: n % 2 ? "client" : "server", bytes: 1000, head: null, message });
      }
      window.longest = 0;
      bus.dispatchEvent(new CustomEvent("messages", { detail: {} }));
    });
    await page.getByText("10000 of 10000").waitFor();
    const rows = await page.evaluate(async () => {
      const begun = performance.now();
      const stream = document.querySelector(".stream");
      for (let step = 0; step < 50; step += 1) {
        stream.scrollTop = (stream.scrollHeight * step) / 50;
        await new Promise(requestAnimationFrame);
      }
      return { count: stream.querySelectorAll("[role=row]").length, time: performance.now() - begun };
    });
    assert.ok(rows.count > 0 && rows.count < 100, `${rows.count} rows are in the page`);
    assert.ok(rows.time < 10_000, `50 steps took ${rows.time} ms`);
    await search.pressSequentially("test/99");
    await page.getByText("111 of 10000").waitFor();
    await page.getByLabel("Direction").selectOption("client");
    await page.getByText("56 of 10000").waitFor();
    await page.getByLabel("Direction").selectOption("");
    await search.fill("");
    await page.getByText("10000 of 10000").waitFor();
    // The browser reports a task after the next one.
    longest = await page.evaluate(() => new Promise((done) => setTimeout(() => done(window.longest), 100)));
    console.log(`10,000 messages: 50 steps ${rows.time.toFixed(0)} ms, longest task ${longest.toFixed(0)} ms`);
    if (longest < MAX_TASK) break;
  }
  assert.ok(longest < MAX_TASK, `a task took ${longest} ms in the best of ${ROUNDS} rounds`);
  assert.deepEqual(page.problems, []);
}

/** Waits for the first paint with contents. Returns its time in milliseconds. */
const firstPaint = (page) => page.evaluate(async () => {
  for (;;) {
    const [entry] = performance.getEntriesByName("first-contentful-paint");
    if (entry) return entry.startTime;
    await new Promise((next) => setTimeout(next, 10));
  }
});

/** The first paint by the URL of the terminal, with its redirect, beside that of a line of text from the same server. */
async function paint(browser) {
  const url = await inspect("--", server, "--stdio");
  // The URL lets one browser in. The load that does so also starts the browser.
  const first = await browser.newContext();
  await (await first.newPage()).goto(url);
  const storageState = await first.storageState();
  await first.close();
  for (const width of [1280, 400]) await paintsWithoutModules(browser, url, { viewport: { width, height: 800 }, storageState });

  const load = async (url) => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, storageState });
    const page = await context.newPage();
    await page.goto(url);
    const time = await firstPaint(page);
    await context.close();
    return time;
  };
  const line = url.replace(/token=.*/, "token=0");
  const median = (times) => times.toSorted((a, b) => a - b)[(LOADS - 1) / 2];
  let passed = false;
  for (let round = 1; round <= ROUNDS && !passed; round += 1) {
    const times = [];
    const lines = [];
    for (let n = 0; n < LOADS; n += 1) {
      lines.push(await load(line));
      times.push(await load(url));
    }
    const limit = Math.max(MAX_PAINT, MAX_RATIO * median(lines));
    passed = median(times) < limit;
    console.log(`first paint: median ${median(times).toFixed(0)} ms, best ${Math.min(...times).toFixed(0)} ms, worst ${Math.max(...times).toFixed(0)} ms of ${LOADS} loads; a line of text ${median(lines).toFixed(0)} ms, limit ${limit.toFixed(0)} ms`);
  }
  assert.ok(passed, `the first paint takes too long in each of ${ROUNDS} rounds`);
}

/** While its modules are held back, the page shows its head and the names of its views. It does not jump when they arrive. */
async function paintsWithoutModules(browser, url, options) {
  const { width } = options.viewport;
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.setDefaultTimeout(LIMIT);
  const problems = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  let release;
  const released = new Promise((done) => { release = done; });
  const isModule = ({ pathname }) => pathname.includes("/page/") && !pathname.endsWith("/page/start.js");
  await page.route(isModule, async (route) => {
    await released;
    await route.continue();
  });
  await page.goto(url, { waitUntil: "commit" });
  const time = await firstPaint(page);
  assert.equal(await page.locator("nav a").filter({ visible: true }).count(), 12);
  for (const part of [page.getByRole("link", { name: "Protocol" }), page.getByRole("button", { name: "Reconnect" }), page.getByText("connecting")]) assert.ok(await part.isVisible());
  assert.equal(await page.locator("main > *").count(), 0, "a module has run");
  release();
  await page.locator("#status.good").waitFor();
  await page.getByRole("heading", { name: "Negotiation" }).waitFor();
  const { starts, shift } = await page.evaluate(async () => {
    const names = performance.getEntriesByType("resource").filter((it) => it.name.includes("/page/") && !it.name.endsWith("/start.js"));
    const shifts = [];
    new PerformanceObserver((list) => shifts.push(...list.getEntries())).observe({ type: "layout-shift", buffered: true });
    await new Promise((done) => setTimeout(done, 100));
    return { starts: names.map((it) => it.startTime), shift: shifts.reduce((sum, it) => sum + it.value, 0) };
  });
  assert.ok(starts.length > 20, `${starts.length} modules`);
  assert.ok(Math.min(...starts) >= Math.min(time, LATEST_START), `a module was requested at ${Math.min(...starts)} ms, before the first paint at ${time} ms`);
  console.log(`layout shift at ${width} pixels: ${shift.toFixed(3)}`);
  assert.ok(shift < MAX_SHIFT, `the page jumps by ${shift} at ${width} pixels`);
  assert.ok(!page.url().includes("token"), "the token is in the address");
  assert.deepEqual(problems, []);
  await context.close();
}

/** Sessions of two servers in each revision. No message violates the schema of its revision. */
async function schemas(browser) {
  const calls = async (page, list) => {
    for (const [method, params] of list) {
      await page.evaluate(async ([method, params]) => {
        const { request } = await import("./page/backend.js");
        await request(method, params).catch(() => {});
      }, [method, params]);
    }
  };
  const tool = (name, args = {}) => ["tools/call", { name, arguments: args }];
  const lists = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"].map((it) => [it, {}]);
  const ours = [...lists, ...["test_simple_text", "test_image_content", "test_audio_content", "test_embedded_resource", "test_multiple_content_types", "test_tool_with_logging", "test_tool_with_progress", "test_error_handling"].map((it) => tool(it)),
    ["prompts/get", { name: "test_simple_prompt" }], ["prompts/get", { name: "test_prompt_with_arguments", arguments: { arg1: "a", arg2: "b" } }],
    ["resources/read", { uri: "test://static-text" }], ["resources/read", { uri: "test://static-binary" }], tool("nothing")];
  const theirs = [...lists, tool("echo", { message: "a" }), tool("get-sum", { a: 1, b: 2 }), tool("get-tiny-image"), tool("get-annotated-message", { messageType: "error", includeImage: true }),
    tool("get-structured-content", { location: "New York" }), tool("get-resource-links", { count: 2 }), tool("get-resource-reference", { resourceType: "Text", resourceId: 1 }),
    ["prompts/get", { name: "simple-prompt" }], tool("nothing")];
  for (const revision of REVISIONS) {
    // The server of npm has sessions only, and its results do not depend on the revision.
    const targets = [[ours, server, "--stdio"], ...(revision === REVISIONS[1] ? [[theirs, process.execPath, npmServer]] : [])];
    for (const [list, ...command] of targets) {
      const page = await open(browser, await inspect("--protocol", revision, "--", ...command));
      await calls(page, list);
      const { count, wrong } = await page.evaluate(async () => {
        const { store } = await import("./page/backend.js");
        const wrong = store.messages.filter((it) => it.violations || it.head?.unchecked);
        return { count: store.messages.length, wrong: wrong.map((it) => [it.request?.message, it.message, it.violations]) };
      });
      assert.deepEqual(wrong, [], `${command.at(-1)} in ${revision}`);
      assert.ok(count > 2 * list.length, `${count} messages in ${revision}`);
      await page.context().close();
    }
  }
}

/** The files of copied tests are what the page makes of their messages. `UPDATE_EXPECT=1` writes them. */
async function copies(browser) {
  const folder = process.env.COPIES;
  const page = await open(browser, await inspect("--", server, "--stdio"));
  for (const { file, message, response } of JSON.parse(await readFile(`${folder}/messages.json`, "utf8"))) {
    const [test, rust] = await page.evaluate(async ([message, response]) => {
      const it = await import("./page/copies.js");
      return [it.test(message, response), it.rust(message)];
    }, [message, response]);
    if (process.env.UPDATE_EXPECT) await writeFile(`${folder}/${file}.txt`, test);
    assert.equal(await readFile(`${folder}/${file}.txt`, "utf8"), test, file);
    // The call is a line of the test.
    if (!response.error) assert.ok(test.includes(rust.split("\n")[0]), rust);
  }
}

/** Advisory CVE-2025-58444: a link of a server ran scripts in the page of an inspector. */
async function attacks(browser) {
  const page = await open(browser, await inspect("--", process.execPath, hostile));
  const check = async (where) => {
    assert.equal(await page.evaluate(() => window.hacked), undefined, where);
    const links = await page.locator("a").evaluateAll((all) => all.map((it) => it.href));
    for (const link of links) assert.match(link, /^https?:/, where);
    assert.equal(await page.locator("main script, main iframe, main object, main embed, main style").count(), 0, where);
  };
  for (const hash of ["server", "tools", "tools/evil", "prompts", "resources", "resources/javascript%3Awindow.hacked%3D1", "logs", "protocol"]) {
    await view(page, hash);
    await page.waitForLoadState("networkidle").catch(() => {});
    await check(hash);
  }
  await view(page, "tools/evil");
  await page.getByRole("button", { name: "Call" }).click();
  await page.getByText("The call was successful.").waitFor();
  await check("a result");
  await page.getByLabel("Markdown").first().check();
  await page.locator(".output").getByRole("link", { name: "c", exact: true }).first().waitFor();
  await check("Markdown");
  for (const summary of await page.locator("summary").all()) await summary.click();
  await check("details");
  await view(page, "logs");
  await page.locator("tbody tr").first().waitFor();
  await check("logs");
  await hardTexts(page);
  await hardMessages(page);
  await hardSchemas(page);
  assert.deepEqual(page.problems.filter((it) => !it.includes("Content Security Policy") && !it.includes("ERR_")), []);
  // The cookie is not for scripts.
  assert.equal(await page.evaluate(() => document.cookie), "");
}

/** Work in the page is that of its bytes. Each of these took seconds or minutes. */
const MAX_WORK = 2_000;

/** Texts on which a search that begins anew at each character takes the square of their length. */
async function hardTexts(page) {
  const begun = performance.now();
  await view(page, `resources/${encodeURIComponent("x://brackets")}`);
  await page.getByRole("button", { name: "Read" }).click();
  await page.getByText("[".repeat(1_000)).first().waitFor();
  assert.ok(await page.getByLabel("Markdown").isChecked());
  console.log(`a resource of brackets: ${(performance.now() - begun).toFixed(0)} ms`);
  const times = await page.evaluate(async () => {
    const { markdown } = await import("./page/contents.js");
    const { indented } = await import("./page/json.js");
    const { expand } = await import("./page/resources.js");
    const texts = ["[", "[a](", "[](a", "`", "`a`", "**a", "*", "**a*", " ", "#", "[\n", "- ", "[a](https://b/)", "]("].map((it) => it.repeat(100_000 / it.length));
    texts.push(`# ${" ".repeat(100_000)}x\ry`, `- ${" ".repeat(100_000)}x`, `${"[".repeat(50_000)}${"](a".repeat(16_000)}`);
    const runs = texts.map((text) => [text.slice(0, 10), () => markdown(text)]);
    runs.push(["indented", () => indented("[".repeat(100_000) + "]".repeat(100_000))], ["template", () => expand("{".repeat(100_000), {})]);
    return runs.map(([name, run]) => {
      const begun = performance.now();
      run();
      return [name, performance.now() - begun];
    });
  });
  console.log(`hard texts: the longest takes ${Math.max(...times.map(([, time]) => time)).toFixed(0)} ms`);
  assert.deepEqual(times.filter(([, time]) => time > MAX_WORK), []);
  const shown = await page.evaluate(async () => {
    const { markdown } = await import("./page/contents.js");
    const holder = document.createElement("div");
    holder.append(...markdown("# H `a`\r\n\n**bold** `code` [link](https://a.example/) [ [b](https://b.example/)\n[](https://c.example/) [x] `` ***a** **b*c**\n* one\n + two\n####### no"));
    return holder.innerHTML.replaceAll(/ (target|rel)="[^"]*"/g, "");
  });
  assert.equal(shown, `<p><strong>H <code>a</code></strong></p><p><strong>bold</strong> <code>code</code> <a href="https://a.example/">link</a> <a href="https://b.example/"> [b</a>\n`
    + `<a href="https://c.example/">https://c.example/</a> [x] \`\` *<strong>a</strong> **b*c**</p><ul><li>one</li><li>two</li></ul><p>####### no</p>`);
}

/** Messages that are hard to show are in the list, and each of them opens. */
async function hardMessages(page) {
  await view(page, "protocol");
  await page.evaluate(async () => {
    const { request } = await import("./page/backend.js");
    await request("tools/call", { name: "messages", arguments: {} }).catch(() => {});
  });
  await page.getByLabel("Search messages").fill("");
  for (const [text, part] of [["notifications/oddName", `"valueOf": 1`], ["notifications/large", "[".repeat(1_000)]]) {
    await page.getByLabel("Search messages").fill(text);
    const begun = performance.now();
    await page.getByRole("row").filter({ hasText: text }).first().click();
    const shown = await page.getByLabel("Message", { exact: true }).locator("pre").first().textContent();
    assert.ok(shown.includes(text) && shown.includes(part), text);
    assert.ok(shown.length <= 1_000_000, `${text} has ${shown.length} characters`);
    console.log(`${text}: ${(performance.now() - begun).toFixed(0)} ms`);
  }
  // Requests of the server without an answer do not stay for ever, and do not push out those of the page.
  const { latency, isKept, deep } = await page.evaluate(async () => {
    const made = {};
    const former = window.EventSource;
    window.EventSource = class {
      constructor() {
        made.source = this;
      }
    };
    const { listen, store } = await import("./page/backend.js");
    listen();
    window.EventSource = former;
    let number = 0;
    const receive = (from, message) => made.source.onmessage({ data: `{"kind":"message","ms":1,"from":"${from}","bytes":1,"head":null,"message":${message}}`, lastEventId: String((number += 1)) });
    receive("client", `{"jsonrpc":"2.0","id":"mine","method":"test/mine"}`);
    const id = "[".repeat(10_000) + "]".repeat(10_000);
    receive("server", `{"jsonrpc":"2.0","id":${id},"method":"test/deepId"}`);
    receive("client", `{"jsonrpc":"2.0","id":${id},"result":{}}`);
    const deep = store.messages.slice(-2).map((it) => [it.message.method, it.request]);
    for (let n = 0; n < 10_001; n += 1) receive("server", `{"jsonrpc":"2.0","id":"q${n}","method":"test/question"}`);
    receive("client", `{"jsonrpc":"2.0","id":"q0","result":{}}`);
    const isKept = store.messages.at(-1).request !== undefined;
    receive("server", `{"jsonrpc":"2.0","id":"mine","result":{}}`);
    return { latency: store.messages.at(-1).latency, isKept, deep };
  });
  assert.deepEqual({ latency, isKept, deep }, { latency: 0, isKept: false, deep: [["test/deepId", undefined], [undefined, undefined]] });
}

/** Forms of schemas with mistakes, and of schemas that describe millions of fields. */
async function hardSchemas(page) {
  const outcome = await page.evaluate(async () => {
    const { form } = await import("./page/forms.js");
    const members = (count, make) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, make(n)]));
    const named = (name, schema) => ({ type: "object", properties: Object.defineProperty({}, name, { value: schema, enumerable: true }) });
    const odd = { toString: 1, valueOf: 1 };
    const schemas = {
      reference: { properties: { a: { $ref: "#/%" }, b: { const: 1 } } },
      required: { properties: { b: { const: 1 } }, required: 5 },
      properties: { properties: { a: { anyOf: [{ properties: null }, null, 5] }, b: { const: 1 } } },
      keywords: { title: odd, properties: { a: null, c: { type: odd, enum: odd, oneOf: [null], items: 3, minimum: odd }, d: { enum: [odd], enumNames: [odd] }, e: { type: "string", format: "constructor" }, b: { const: 1 } } },
      recursive: { properties: members(12, () => ({ $ref: "#" })) },
      wide: { properties: members(20_000, () => ({ type: "string" })) },
      choices: { $defs: { e: { enum: Array.from({ length: 5_000 }, (_, n) => `x${n}`) } }, properties: members(3_000, () => ({ $ref: "#/$defs/e" })) },
      texts: { $defs: { e: { type: "string", description: "x".repeat(1_000_000) } }, properties: members(3_000, () => ({ $ref: "#/$defs/e" })) },
      items: { properties: { a: { type: "array", items: { type: "string" }, default: Array(100_000).fill("x") } } },
      pattern: { properties: { a: { type: "string", pattern: "^(a+)+$", default: `${"a".repeat(60)}!` }, c: { type: "string", pattern: `${"a?".repeat(40)}a{40}`, default: "a".repeat(40) } } },
      proto: named("__proto__", { type: "object", properties: { x: { const: "v" } } }),
      inherited: { properties: { constructor: { type: "string" }, toString: {}, valueOf: { enum: ["a"] } } },
      deep: { properties: { a: { default: JSON.parse("[".repeat(100_000) + "]".repeat(100_000)) } } },
    };
    const read = (made) => {
      try {
        return JSON.stringify(made.read()).slice(0, 200);
      } catch (error) {
        return error.message;
      }
    };
    return Object.entries(schemas).map(([name, schema]) => {
      const begun = performance.now();
      const made = form({ type: "object", ...schema }, name === "inherited" ? {} : undefined);
      const found = read(made);
      const parts = made.element.querySelectorAll("*").length;
      const characters = made.element.textContent.length;
      return { name, found, parts, characters, time: performance.now() - begun, fields: made.element.querySelectorAll("label").length };
    });
  });
  for (const { name, parts, characters, time } of outcome) {
    assert.ok(parts < 50_000 && characters < 20_000_000 && time < MAX_WORK, `${name}: ${parts} parts, ${characters} characters, ${time} ms`);
  }
  const found = Object.fromEntries(outcome.map((it) => [it.name, it.found]));
  for (const name of ["reference", "required", "properties", "keywords"]) assert.equal(found[name], `{"b":1}`, name);
  assert.deepEqual([found.proto, found.inherited], [`{"__proto__":{"x":"v"}}`, "{}"]);
  assert.match(found.pattern, /^\{"a":"a+!","c":"a+"\}$/);
  // A schema that leads back to itself still has fields.
  assert.ok(outcome.find((it) => it.name === "recursive").fields > 12);
}

/** A page that has opened a window cannot reach the inspector in it. */
async function openers(browser) {
  const url = await inspect("--", server, "--stdio");
  const seen = [];
  const other = createServer((request, response) => {
    seen.push(request.headers.cookie);
    response.setHeader("content-type", "text/html").end("<!doctype html><p>other");
  });
  await new Promise((done) => other.listen(0, "127.0.0.1", done));
  for (const isUser of [true, false]) {
    const context = await browser.newContext();
    const page = await context.newPage();
    page.setDefaultTimeout(LIMIT);
    await page.goto(`http://127.0.0.1:${other.address().port}/`);
    const popup = context.waitForEvent("page");
    await page.evaluate((target) => { window.opened = window.open(target); }, isUser ? "about:blank" : url);
    const opened = await popup;
    if (isUser) {
      await opened.goto(url);
      await opened.locator("#status.good").waitFor();
      assert.ok(!opened.url().includes("token"), "the token is in the address");
      // A server at another port does not see the cookie.
      const third = await context.newPage();
      await third.goto(page.url());
    } else {
      // Not even with the token.
      await opened.getByText("wrong Sec-Fetch-Site").waitFor();
    }
    assert.equal(await opened.evaluate(() => window.opener), null);
    assert.equal(await page.evaluate(() => window.opened.closed), true, "the other page still reaches the window");
    await context.close();
  }
  other.close();
  assert.ok(seen.length > 2 && seen.every((cookie) => cookie === undefined), `cookies: ${seen}`);
}

// Chromium refuses to run as root with its own sandbox. The pages are those of the test.
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"], timeout: LIMIT });
try {
  await { features, exact, look, many, attacks, openers, messages, extensions, apps, login, everything, paint, schemas, copies }[test](browser);
  console.log("ok");
} finally {
  await browser.close();
  for (const child of children) child.kill();
  await rm(home, { recursive: true, force: true });
}

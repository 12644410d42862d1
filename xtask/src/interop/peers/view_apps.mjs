// A view of MCP Apps with the TypeScript package: messages are lines of stdin and stdout. Each step is
// checked here, and the host checks what it receives.
import assert from "node:assert/strict";
import readline from "node:readline";
import { PassThrough } from "node:stream";
import { App } from "@modelcontextprotocol/ext-apps";

class Lines {
  async start() {
    readline.createInterface({ input: process.stdin })
      .on("line", (line) => this.onmessage?.(JSON.parse(line)))
      .on("close", () => this.onclose?.());
  }
  async send(message) { process.stdout.write(JSON.stringify(message) + "\n"); }
  async close() { this.onclose?.(); }
}

const app = new App(
  { name: "view", version: "1.0.0" },
  { tools: {}, availableDisplayModes: ["inline", "fullscreen"] },
  { autoResize: false },
);
const seen = [];
app.ontoolinputpartial = (params) => seen.push(["partial", params.arguments.city]);
app.ontoolinput = (params) => seen.push(["input", params.arguments.city]);
const result = new Promise((resolve) => { app.ontoolresult = resolve; });
const contexts = new PassThrough({ objectMode: true });
app.onhostcontextchanged = (context) => { contexts.write(context); };
const nextContext = contexts[Symbol.asyncIterator]();
const nextLocale = async () => (await nextContext.next()).value.locale;
app.onlisttools = async () => ({ tools: [{ name: "zoom", inputSchema: { type: "object" } }] });
app.oncalltool = async ({ name }) => ({ content: [{ type: "text", text: `called ${name}` }] });
const changes = ["tools", "resources"].map((list) => new Promise((resolve) => {
  app.setNotificationHandler(`notifications/${list}/list_changed`, resolve);
}));
app.onteardown = async () => { setTimeout(() => process.exit(0), 200); return {}; };

await app.connect(new Lines());
assert.equal(app.getHostVersion().name, "interop-host");
assert.equal(app.getHostContext().theme, "dark");
assert.equal((await result).content[0].text, "sunny");
assert.deepEqual(seen, [["partial", "Ro"], ["input", "Rome"]]);
assert.equal(await nextLocale(), "it");
const { serverTools, serverResources } = app.getHostCapabilities();
assert.ok(serverTools.listChanged && serverResources.listChanged);

const called = await app.callServerTool({ name: "refresh", arguments: {} });
assert.equal(called.content[0].text, "for views");
await assert.rejects(app.callServerTool({ name: "secret", arguments: {} }), /language model/);
const { resources } = await app.listServerResources();
assert.deepEqual(resources.map(({ uri }) => uri), ["data://1"]);
for (const [uri, text] of [["data://1", "some data"], ["data://2", "more data"]]) {
  const read = await app.readServerResource({ uri });
  assert.equal(read.contents[0].text, text);
}
await Promise.all(changes);
assert.ok(!(await app.openLink({ url: "https://example.com/" })).isError);
await assert.rejects(app.openLink({ url: "javascript:alert(1)" }));
const slow = new AbortController();
const opened = app.openLink({ url: "https://example.com/slow" }, { signal: slow.signal });
const cancelled = assert.rejects(opened);
assert.equal(await nextLocale(), "link https://example.com/slow");
slow.abort("the user left");
await cancelled;
assert.equal(await nextLocale(), "cancelled");
const report = { uri: "file:///tmp/report.csv", mimeType: "text/csv", text: "a,b" };
assert.ok(!(await app.downloadFile({ contents: [{ type: "resource", resource: report }] })).isError);
const question = { role: "user", content: { type: "text", text: "2 + 2" } };
const sampled = await app.createSamplingMessage({ messages: [question], maxTokens: 5 });
assert.equal(sampled.content.text, "4");
await app.sendMessage({ role: "user", content: [{ type: "text", text: "hello" }] });
await app.updateModelContext({ structuredContent: { zoom: 3 } });
assert.equal((await app.requestDisplayMode({ mode: "fullscreen" })).mode, "fullscreen");
await app.sendLog({ level: "info", data: "all checks passed" });
await app.sendSizeChanged({ width: 320, height: 200 });
await app.requestTeardown();

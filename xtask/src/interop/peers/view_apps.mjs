// A view of MCP Apps with the TypeScript package: messages are lines of stdin and stdout. Each step is
// checked here, and the host checks what it receives.
import assert from "node:assert/strict";
import readline from "node:readline";
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
const context = new Promise((resolve) => { app.onhostcontextchanged = resolve; });
app.onlisttools = async () => ({ tools: [{ name: "zoom", inputSchema: { type: "object" } }] });
app.oncalltool = async ({ name }) => ({ content: [{ type: "text", text: `called ${name}` }] });
app.onteardown = async () => { setTimeout(() => process.exit(0), 200); return {}; };

await app.connect(new Lines());
assert.equal(app.getHostVersion().name, "interop-host");
assert.equal(app.getHostContext().theme, "dark");
assert.equal((await result).content[0].text, "sunny");
assert.deepEqual(seen, [["partial", "Ro"], ["input", "Rome"]]);
assert.equal((await context).locale, "it");

const called = await app.callServerTool({ name: "refresh", arguments: {} });
assert.equal(called.content[0].text, "for views");
await assert.rejects(app.callServerTool({ name: "secret", arguments: {} }), /language model/);
const read = await app.readServerResource({ uri: "data://1" });
assert.equal(read.contents[0].text, "some data");
assert.ok(!(await app.openLink({ url: "https://example.com/" })).isError);
await assert.rejects(app.openLink({ url: "javascript:alert(1)" }));
await app.sendMessage({ role: "user", content: [{ type: "text", text: "hello" }] });
await app.updateModelContext({ structuredContent: { zoom: 3 } });
assert.equal((await app.requestDisplayMode({ mode: "fullscreen" })).mode, "fullscreen");
await app.sendLog({ level: "info", data: "all checks passed" });
await app.sendSizeChanged({ width: 320, height: 200 });

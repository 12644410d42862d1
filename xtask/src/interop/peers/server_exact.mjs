// A server whose results show whether an inspector changes them: texts with white space, numbers that JavaScript rounds,
// long forms, tagged enums, questions of two calls at once, and a task. It speaks JSON-RPC of 2025-11-25 by hand, so that
// numbers are the text that arrives and the text that leaves.
import readline from "node:readline";

const log = `2026-07-28 10:00:01  INFO  start
    at indented (main.rs:7)
        at deeper   (main.rs:9)
# not a heading
- not a list
* **not bold** and \`no code\`
{not json`;
const csv = `name;amount;note
# a comment
Ada;  12;"a, b"
Bob;1200;`;
const code = `fn main() {
    # [derive]
    let list = vec![
        1,
        2,
    ];
}`;
const markdown = `# Report

Two **bold** words, \`code\` and a [link](https://example.com/ok).

- one
- two`;
/** Numbers that a reader may round, as they are sent. */
const numbers = `{"big":12345678901234567890,"longer":123456789012345678901234567890,"one":1.0,"huge":1e400,"price":0.10,"zero":-0}`;

const string = { type: "string" };
const variant = (kind, more) => ({ type: "object", properties: { kind: { type: "string", const: kind }, ...more }, required: ["kind", ...Object.keys(more)] });
const long = Object.fromEntries(Array.from({ length: 24 }, (_, n) => [`option_${n + 1}`, { type: "string", title: `Option ${n + 1}`, description: "A setting of the report." }]));
const tools = [
  { name: "texts", title: "Texts", description: "Returns a log, a table, code and Markdown.", inputSchema: { type: "object" } },
  {
    name: "numbers", description: "Returns numbers, and the arguments as they arrive.",
    inputSchema: { type: "object", properties: { id: { type: "integer", maximum: 18446744073709551615n }, amount: { type: "number" }, any: {} } },
  },
  { name: "report", title: "Long form", description: "A form with many fields.", inputSchema: { type: "object", properties: { title: string, ...long }, required: ["title"] } },
  {
    name: "draw", description: "A shape of one of three kinds, as tagged enums describe it.",
    inputSchema: {
      type: "object", required: ["shape", "color", "unit"],
      properties: {
        shape: { oneOf: [variant("circle", { radius: { type: "number" } }), variant("square", { side: { type: "number" } }), { ...variant("path", { points: string }), title: "Any path" }] },
        fill: { oneOf: [{ type: "object", properties: { Solid: string }, required: ["Solid"] }, { type: "object", properties: { Pattern: string }, required: ["Pattern"] }] },
        color: { enum: ["red", "green", "blue"] }, unit: { enum: ["mm"] }, style: { enum: ["thin", "thick"] },
      },
    },
  },
  { name: "ask", description: "Asks a question.", inputSchema: { type: "object", properties: { text: string } } },
  { name: "wait", description: "Returns after `release`.", inputSchema: { type: "object" } },
  { name: "release", description: "Lets `wait` and `render` end.", inputSchema: { type: "object" } },
  { name: "step", description: "The task of `render` reports its next step.", inputSchema: { type: "object" } },
  { name: "progress", description: "The calls of `wait` report progress.", inputSchema: { type: "object" } },
  { name: "render", description: "Runs as a task.", execution: { taskSupport: "required" }, inputSchema: { type: "object" } },
  { name: "die", description: "Ends the server.", inputSchema: { type: "object" } },
];

const write = (text) => process.stdout.write(`${text}\n`);
/** JSON in which a `BigInt` is a number. */
const json = (value) => JSON.stringify(value, (_, it) => (typeof it === "bigint" ? `<${it}>` : it)).replaceAll(/"<(\d+)>"/g, "$1");
const send = (message) => write(json({ jsonrpc: "2.0", ...message }));
const text = (...texts) => ({ content: texts.map((it) => ({ type: "text", text: it })) });

/** Calls of `wait`, and the results of questions by the id of the question. */
const waiting = [];
const asked = new Map();
const task = { taskId: "render-1", status: "working", statusMessage: "step 1", ttl: 600_000, pollInterval: 50, createdAt: "2026-07-28T00:00:00Z", lastUpdatedAt: "2026-07-28T00:00:00Z" };
let steps = 1;
let taskResult;

const calls = {
  texts: () => text(log, csv, code, markdown, `[1.0, 12345678901234567890]`),
  report: ({ title }) => text(`The report ${title} is ready.`),
  draw: (args) => text(json(args)),
  release: () => {
    for (const { id } of waiting.splice(0)) send({ id, result: text("released") });
    task.status = "completed";
    taskResult?.();
    return text("done");
  },
  step: () => {
    steps += 1;
    task.statusMessage = `step ${steps}`;
    return text("done");
  },
  progress: () => {
    for (const { token } of waiting) send({ method: "notifications/progress", params: { progressToken: token, progress: 3, total: 4, message: "three quarters" } });
    return text("done");
  },
  die: () => process.exit(0),
};

const methods = {
  initialize: () => ({
    protocolVersion: "2025-11-25", serverInfo: { name: "exact", title: "Exact", version: "1.0.0" },
    capabilities: { tools: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
  }),
  "tools/list": () => ({ tools }),
  ping: () => ({}),
  "tasks/get": () => task,
};

for await (const line of readline.createInterface({ input: process.stdin })) {
  const { id, method, params, result } = JSON.parse(line);
  const { name, arguments: args = {}, _meta: meta } = params ?? {};
  if (method === undefined) {
    const call = asked.get(id);
    if (call !== undefined) send({ id: call, result: text(json(result)) });
  } else if (id === undefined) {
    // A notification.
  } else if (name === "numbers") {
    // The arguments as they arrived, without the rest of the line.
    const sent = /"arguments":(\{.*?\})(?=,"_meta"|\}\}?$)/.exec(line)?.[1] ?? line;
    write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":${json(sent)}},{"type":"text","text":${json(numbers)}}],"structuredContent":${numbers}}}`);
  } else if (name === "ask") {
    asked.set(`q${id}`, id);
    send({ id: `q${id}`, method: "elicitation/create", params: { message: args.text ?? "Which color?", requestedSchema: { type: "object", properties: { color: { type: "string", enum: ["red", "blue"] } }, required: ["color"] } } });
  } else if (name === "wait") {
    waiting.push({ id, token: meta?.progressToken });
  } else if (name === "render") {
    task.status = "working";
    send({ id, result: { task } });
  } else if (method === "tasks/result") {
    taskResult = () => send({ id, result: text("rendered") });
    if (task.status === "completed") taskResult();
  } else if (method === "tools/call") {
    send(calls[name] ? { id, result: calls[name](args) } : { id, error: { code: -32602, message: `no tool ${name}` } });
  } else {
    send(methods[method] ? { id, result: methods[method](params) } : { id, error: { code: -32601, message: "not here" } });
  }
}

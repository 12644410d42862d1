// A server that tries to run scripts in the page of an inspector: with its names, its descriptions, its
// Markdown, its URLs and its pictures. It speaks JSON-RPC by hand, because SDKs refuse some of it. The tool
// `wrong` violates rules of the specification.
import readline from "node:readline";

const script = `<img src=x onerror="window.hacked='markup'"><script>window.hacked='script'</script>`;
const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="window.hacked='svg'"><script>parent.hacked='svg'</script></svg>`;
const links = "[a](javascript:window.hacked='link') [b](data:text/html,<script>1</script>) [c](https://example.com/ok)";

const results = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {}, resources: {}, prompts: {} },
    serverInfo: { name: script, version: script, title: script, websiteUrl: "javascript:window.hacked='website'" },
    instructions: `${script}\n\n${links}`,
  }),
  "tools/list": () => ({
    tools: [{
      name: "wrong", inputSchema: { type: "object" },
      outputSchema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
    }, {
      name: "evil", title: script, description: `${script} ${links}`,
      annotations: { title: script },
      inputSchema: {
        type: "object",
        properties: { [script]: { type: "string", title: script, description: script, default: script, enum: [script, "__proto__"] }, __proto__x: { $ref: "#/properties/__proto__x" } },
      },
    }],
  }),
  "tools/call": ({ name }) => (name === "wrong" ? { content: [], structuredContent: { n: script } } : {
    content: [
      { type: "text", text: `${script}\n${links}\n\`\`\`\n${script}\n\`\`\`` },
      { type: "image", data: Buffer.from(svg).toString("base64"), mimeType: "image/svg+xml" },
      { type: "image", data: "AAAA", mimeType: `image/png" onerror="window.hacked=1` },
      { type: "resource_link", uri: "javascript:window.hacked='uri'", name: script },
      { type: "resource", resource: { uri: "ui://evil", mimeType: "text/html", text: script } },
    ],
    structuredContent: { [script]: script },
  }),
  "resources/list": () => ({ resources: [{ uri: "javascript:window.hacked='resource'", name: script, description: script }] }),
  "resources/templates/list": () => ({ resourceTemplates: [{ uriTemplate: "x://{a", name: script }] }),
  "prompts/list": () => ({ prompts: [{ name: script, description: script, arguments: [{ name: script, description: script }] }] }),
};

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

for await (const line of readline.createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const result = results[method];
  if (method === "tools/call") {
    if (params.name === "wrong") send({ method: "notifications/message", params: { level: 7, data: script } });
    send({ method: "notifications/message", params: { level: "error", logger: script, data: script } });
  }
  send(result ? { id, result: result(params) } : { id, error: { code: -32601, message: script } });
}

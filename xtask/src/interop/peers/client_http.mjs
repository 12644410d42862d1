// Client of the TypeScript SDK for the server at a URL, at a revision.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { check, sampled, user } from "./checks.mjs";

const [url, revision] = process.argv.slice(2);
const modern = revision >= "2026";
let changes = 0;
const client = new Client({ name: "interop", version: "1.0.0" }, {
    capabilities: { elicitation: {}, sampling: {} },
    versionNegotiation: { mode: modern ? "auto" : "legacy" },
    supportedProtocolVersions: [revision],
    listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => changes++ } },
});
client.setRequestHandler("elicitation/create", async () => user);
client.setRequestHandler("sampling/createMessage", async () => sampled);
const transport = new StreamableHTTPClientTransport(new URL(url));
await client.connect(transport);
console.log(`revision ${client.getNegotiatedProtocolVersion()}`);
const call = (name, args, options) => client.callTool({ name, arguments: args }, options);
await check({ client, call, changes: () => changes });
await transport.terminateSession?.();
await client.close();
process.exit(0);

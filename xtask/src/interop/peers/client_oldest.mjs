// Client of the oldest TypeScript SDK for the server that the arguments start.
import { Client } from "sdk-oldest/client/index.js";
import { StdioClientTransport } from "sdk-oldest/client/stdio.js";

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: "interop", version: "1.0.0" }, { capabilities: {} });
await client.connect(new StdioClientTransport({ command, args }));
const { tools } = await client.listTools();
const result = await client.callTool({ name: "test_simple_text", arguments: {} });
console.log(`${tools.length} tools: ${result.content[0].text}`);
await client.close();

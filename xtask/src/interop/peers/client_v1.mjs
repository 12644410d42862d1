// Client of version 1 of the TypeScript SDK for the server that the arguments start.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: "interop", version: "1.0.0" });
await client.connect(new StdioClientTransport({ command, args }));
const { tools } = await client.listTools();
const result = await client.callTool({ name: "test_simple_text", arguments: {} });
console.log(`${tools.length} tools: ${result.content[0].text}`);
await client.close();

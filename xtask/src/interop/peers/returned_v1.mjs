// Validating client of version 1 of the TypeScript SDK: calls each tool with each of its values, for the server that the
// arguments start.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { callAll } from "./returned.mjs";

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: "interop", version: "1.0.0" });
await client.connect(new StdioClientTransport({ command, args }));
await callAll(client);

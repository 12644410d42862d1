// Validating client of the TypeScript SDK: calls each tool with each of its values, for the server that the arguments
// start. The first argument is the mode of version negotiation.
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { callAll } from "./returned.mjs";

const [mode, command, ...args] = process.argv.slice(2);
const client = new Client({ name: "interop", version: "1.0.0" }, { versionNegotiation: { mode } });
await client.connect(new StdioClientTransport({ command, args }));
await callAll(client);

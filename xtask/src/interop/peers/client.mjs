// Client of the TypeScript SDK for the server that the arguments start. The first argument is the
// mode of version negotiation.
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [mode, command, ...args] = process.argv.slice(2);
const client = new Client({ name: "interop", version: "1.0.0" }, { versionNegotiation: { mode } });
await client.connect(new StdioClientTransport({ command, args }));
const { tools } = await client.listTools();
const result = await client.callTool({ name: "test_simple_text", arguments: {} });
console.log(`${tools.length} tools: ${result.content[0].text}`);
await client.close();

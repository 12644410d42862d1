// Client of version 1 of the TypeScript SDK for the server at a URL, at its newest revision.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
    CreateMessageRequestSchema, ElicitRequestSchema, ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { check, sampled, user } from "./checks.mjs";

const [url] = process.argv.slice(2);
let changes = 0;
const capabilities = { elicitation: {}, sampling: {} };
const client = new Client({ name: "interop", version: "1.0.0" }, { capabilities });
client.setRequestHandler(ElicitRequestSchema, async () => user);
client.setRequestHandler(CreateMessageRequestSchema, async () => sampled);
client.setNotificationHandler(ToolListChangedNotificationSchema, () => { changes++; });
const transport = new StreamableHTTPClientTransport(new URL(url));
await client.connect(transport);
console.log(`revision ${transport.protocolVersion}`);
const call = (name, args, options) =>
    client.callTool({ name, arguments: args }, undefined, options);
await check({ client, call, changes: () => changes });
await transport.terminateSession();
await client.close();
process.exit(0);

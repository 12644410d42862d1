// A server of the oldest TypeScript SDK with one tool.
import { Server } from "sdk-oldest/server/index.js";
import { StdioServerTransport } from "sdk-oldest/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "sdk-oldest/types.js";

const server = new Server({ name: "oldest", version: "1.0.0" }, { capabilities: { tools: {} } });
const properties = { a: { type: "number" }, b: { type: "number" } };
server.setRequestHandler(ListToolsRequestSchema, async () => ({
    tools: [{ name: "add", description: "Add two numbers", inputSchema: { type: "object", properties } }],
}));
server.setRequestHandler(CallToolRequestSchema, async ({ params }) => ({
    content: [{ type: "text", text: String(params.arguments.a + params.arguments.b) }],
}));
await server.connect(new StdioServerTransport());

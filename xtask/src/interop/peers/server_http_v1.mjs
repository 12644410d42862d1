// Server of version 1 of the TypeScript SDK, with sessions.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { CreateMessageResultSchema, ElicitResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { register } from "./fixtures.mjs";

function make() {
    const server = new McpServer({ name: "interop", version: "1.0.0" }, {
        capabilities: { tools: { listChanged: true } },
    });
    register(server, {
        report: (context, progress) => context.sendNotification({
            method: "notifications/progress",
            params: { progressToken: context._meta.progressToken, progress, total: 100 },
        }),
        elicit: async (context, message, requestedSchema, then) => then(await context.sendRequest({
            method: "elicitation/create",
            params: { message, requestedSchema },
        }, ElicitResultSchema)),
        sample: async (context, prompt, then) => then(await context.sendRequest({
            method: "sampling/createMessage",
            params: {
                messages: [{ role: "user", content: { type: "text", text: prompt } }],
                maxTokens: 100,
            },
        }, CreateMessageResultSchema)),
        signal: context => context.signal,
        changed: () => server.sendToolListChanged(),
        prompt: shape => shape,
    });
    return server;
}

const sessions = new Map();
const http = createServer(async (request, response) => {
    const id = request.headers["mcp-session-id"];
    if (id !== undefined && !sessions.has(id)) return response.writeHead(404).end();
    let transport = sessions.get(id);
    if (transport === undefined) {
        transport = new StreamableHTTPServerTransport({
            sessionIdGenerator: randomUUID,
            onsessioninitialized: id => { sessions.set(id, transport); },
            onsessionclosed: id => { sessions.delete(id); },
        });
        await make().connect(transport);
    }
    await transport.handleRequest(request, response);
});
http.listen(0, "127.0.0.1", () => {
    console.error(`listening on http://127.0.0.1:${http.address().port}/mcp`);
});

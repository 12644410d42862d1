// Server of the TypeScript SDK for both eras: stateless requests, and sessions.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from "@modelcontextprotocol/node";
import { createMcpHandler, inputRequired, isLegacyRequest, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { register } from "./fixtures.mjs";

function ask(context, key, question, then) {
    const answer = context.mcpReq.inputResponses?.[key];
    return answer ? then(answer) : inputRequired({ inputRequests: { [key]: question } });
}

function make(changed) {
    const server = new McpServer({ name: "interop", version: "1.0.0" }, {
        capabilities: { tools: { listChanged: true } },
    });
    register(server, {
        report: (context, progress) => context.mcpReq.notify({
            method: "notifications/progress",
            params: { progressToken: context.mcpReq._meta.progressToken, progress, total: 100 },
        }),
        elicit: (context, message, requestedSchema, then) =>
            ask(context, "user", inputRequired.elicit({ message, requestedSchema }), then),
        sample: (context, prompt, then) => ask(context, "answer", inputRequired.createMessage({
            messages: [{ role: "user", content: { type: "text", text: prompt } }],
            maxTokens: 100,
        }), then),
        signal: context => context.mcpReq.signal,
        changed: () => changed(server),
        prompt: shape => z.object(shape),
    });
    return server;
}

const handler = createMcpHandler(() => make(() => handler.notify.toolsChanged()), { legacy: "reject" });
const modern = toNodeHandler(handler);
const sessions = new Map();

async function legacy(request, response, body) {
    const id = request.headers["mcp-session-id"];
    if (id !== undefined && !sessions.has(id)) return response.writeHead(404).end();
    let transport = sessions.get(id);
    if (transport === undefined) {
        transport = new NodeStreamableHTTPServerTransport({
            sessionIdGenerator: randomUUID,
            onsessioninitialized: id => { sessions.set(id, transport); },
            onsessionclosed: id => { sessions.delete(id); },
        });
        await make(server => server.sendToolListChanged()).connect(transport);
    }
    await transport.handleRequest(request, response, body);
}

async function read(request) {
    const parts = [];
    for await (const part of request) parts.push(part);
    return parts.length ? JSON.parse(Buffer.concat(parts)) : undefined;
}

const http = createServer(async (request, response) => {
    const body = await read(request);
    const isLegacy = await isLegacyRequest(await toWebRequest(request, body), body);
    await (isLegacy ? legacy : modern)(request, response, body);
});
http.listen(0, "127.0.0.1", () => {
    console.error(`listening on http://127.0.0.1:${http.address().port}/mcp`);
});

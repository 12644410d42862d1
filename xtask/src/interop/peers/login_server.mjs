// An MCP server with a login, at `/mcp`: its only tool returns the token of the call. `authorization` gets the URL of
// this server, and returns the issuer, the scopes, a check of tokens, and a handler of the other requests.
import { createServer } from "node:http";
import { requireBearerAuth } from "@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import express from "express";

export function serve(authorization) {
    const app = express();
    const server = createServer(app).listen(0, "127.0.0.1", async () => {
        const base = `http://127.0.0.1:${server.address().port}`;
        const { issuer, scopes, verify, handler } = await authorization(base);
        const path = "/.well-known/oauth-protected-resource/mcp";
        app.get(path, (_, response) => response.json({
            resource: `${base}/mcp`, authorization_servers: [issuer], scopes_supported: scopes,
        }));
        const check = requireBearerAuth({
            verifier: { verifyAccessToken: verify }, resourceMetadataUrl: base + path,
        });
        app.post("/mcp", check, express.json(), async (request, response) => {
            const mcp = new McpServer({ name: "protected", version: "1.0.0" });
            mcp.registerTool("token", {}, ({ authInfo }) => ({
                content: [{ type: "text", text: authInfo.token }],
            }));
            const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
            await mcp.connect(transport);
            await transport.handleRequest(request, response, request.body);
        });
        app.use(handler);
        console.error(`listening on ${base}/mcp`);
    });
}

// A server with a login: the authorization server of the TypeScript SDK, whose page agrees at once.
import { createServer } from "node:http";
import { DemoInMemoryAuthProvider } from "@modelcontextprotocol/sdk/examples/server/demoInMemoryOAuthProvider.js";
import { requireBearerAuth } from "@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js";
import { mcpAuthRouter } from "@modelcontextprotocol/sdk/server/auth/router.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import express from "express";

const app = express();
const server = createServer(app).listen(0, "127.0.0.1", () => {
    const base = `http://127.0.0.1:${server.address().port}`;
    const provider = new DemoInMemoryAuthProvider();
    app.use(mcpAuthRouter({
        provider, issuerUrl: new URL(base), resourceServerUrl: new URL(`${base}/mcp`),
    }));
    const resourceMetadataUrl = `${base}/.well-known/oauth-protected-resource/mcp`;
    const check = requireBearerAuth({ verifier: provider, resourceMetadataUrl });
    app.post("/mcp", check, express.json(), async (request, response) => {
        const mcp = new McpServer({ name: "protected", version: "1.0.0" });
        mcp.registerTool("token", {}, ({ authInfo }) => ({
            content: [{ type: "text", text: authInfo.token }],
        }));
        const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
        await mcp.connect(transport);
        await transport.handleRequest(request, response, request.body);
    });
    console.error(`listening on ${base}/mcp`);
});

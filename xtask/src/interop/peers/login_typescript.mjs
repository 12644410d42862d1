// A server with a login: the authorization server of the TypeScript SDK, whose page agrees at once.
import { DemoInMemoryAuthProvider } from "@modelcontextprotocol/sdk/examples/server/demoInMemoryOAuthProvider.js";
import { mcpAuthRouter } from "@modelcontextprotocol/sdk/server/auth/router.js";
import { serve } from "./login_server.mjs";

serve((base) => {
    const provider = new DemoInMemoryAuthProvider();
    const handler = mcpAuthRouter({ provider, issuerUrl: new URL(base) });
    return { issuer: base, verify: (token) => provider.verifyAccessToken(token), handler };
});

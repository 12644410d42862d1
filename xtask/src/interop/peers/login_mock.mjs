// A server with a login: the authorization server `oauth2-mock-server`, which registers no clients and accepts every
// client id. Its access tokens expire after 2 seconds.
import { Events, OAuth2Server } from "oauth2-mock-server";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { serve } from "./login_server.mjs";

serve(async () => {
    const server = new OAuth2Server();
    await server.issuer.keys.generate("ES256");
    await server.start(0, "127.0.0.1");
    const issuer = server.issuer.url;
    const expiry = () => Math.floor(Date.now() / 1000) + 2;
    server.service.on(Events.BeforeTokenSigning, (token) => { token.payload.exp = expiry(); });
    server.service.on(Events.BeforeResponse, (response) => { response.body.expires_in = 2; });
    const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`));
    const verify = async (token) => {
        const { payload } = await jwtVerify(token, keys, { issuer });
        return { token, clientId: "given", scopes: [], expiresAt: payload.exp };
    };
    return { issuer, scopes: ["mcp"], verify, handler: (_, response) => response.sendStatus(404) };
});

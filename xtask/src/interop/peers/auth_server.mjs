// The authorization server `oidc-provider`. The login pages are its own development pages, which accept every
// user. Clients with names that end in `short` get access tokens that expire after 2 seconds, and those with `dpop` in
// their names JWTs. The argument `jwt` selects JSON Web Tokens for all clients; the default is opaque tokens. Proofs of
// possession need a nonce.
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { Provider } from "oidc-provider";

const accessTokenFormat = process.argv[2] === "jwt" ? "jwt" : "opaque";
const scope = "mcp mcp:use mcp:write";
const server = createServer().listen(0, "127.0.0.1", () => {
    const issuer = `http://127.0.0.1:${server.address().port}`;
    const key = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const machine = {
        grant_types: ["client_credentials"], redirect_uris: [], response_types: [], scope,
    };
    const provider = new Provider(issuer, {
        clients: [
            { ...machine, client_id: "resource-server", client_secret: "interop-resource" },
            { ...machine, client_id: "service", client_secret: "interop-service" },
            {
                ...machine, client_id: "signing-service", token_endpoint_auth_method: "private_key_jwt",
                token_endpoint_auth_signing_alg: "ES256",
                jwks: { keys: [key.publicKey.export({ format: "jwk" })] },
            },
        ],
        scopes: ["offline_access", ...scope.split(" ")],
        features: {
            clientCredentials: { enabled: true },
            dPoP: { enabled: true, nonceSecret: randomBytes(32), requireNonce: () => true },
            devInteractions: { enabled: true },
            deviceFlow: { enabled: true },
            introspection: { enabled: true },
            registration: { enabled: true },
            resourceIndicators: {
                enabled: true,
                getResourceServerInfo: (_, __, client) => ({
                    scope, accessTokenFormat: client.clientName?.includes("dpop") ? "jwt" : accessTokenFormat,
                }),
            },
            revocation: { enabled: true },
        },
        // Some clients register for the scopes of their first login only.
        extraClientMetadata: { properties: ["all_scopes"], validator: (_, __, ___, client) => { client.scope = undefined; } },
        cookies: { keys: ["interop"] },
        issueRefreshToken: (_, client) => client.grantTypeAllowed("refresh_token"),
        ttl: {
            AccessToken: (_, __, client) => (client.clientName?.endsWith("short") ? 2 : 3600),
            ClientCredentials: 3600, DeviceCode: 600, Grant: 3600, IdToken: 3600, Interaction: 600,
            RefreshToken: 3600, Session: 3600,
        },
    });
    const handle = provider.callback();
    server.on("request", (request, response) => {
        if (request.url !== "/test-key") return handle(request, response);
        response.end(key.privateKey.export({ type: "pkcs8", format: "pem" }));
    });
    console.error(`listening on ${issuer}`);
});

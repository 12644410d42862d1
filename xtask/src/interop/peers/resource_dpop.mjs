// A protected resource that accepts tokens with a proof of possession only (DPoP). `oauth4webapi` checks tokens and
// proofs; requests then go to the MCP server UPSTREAM. Each nonce is good for 5 requests, and its end is not announced.
import { createServer, request as send } from "node:http";
import * as oauth from "oauth4webapi";

const NONCE_USES = 5;
const [issuer, upstream] = process.argv.slice(2);
const metadata = await (await fetch(`${issuer}/.well-known/openid-configuration`)).json();
const proofs = new Set();
let accepted = 0;

const server = createServer(async (request, response) => {
    if (request.url === "/.well-known/oauth-protected-resource/mcp") {
        response.setHeader("content-type", "application/json");
        return response.end(JSON.stringify({
            resource: `${base()}/mcp`, authorization_servers: [issuer], scopes_supported: ["mcp"],
            dpop_bound_access_tokens_required: true, dpop_signing_alg_values_supported: ["ES256"],
        }));
    }
    const error = await problem(request);
    if (error) {
        response.setHeader("www-authenticate", `DPoP algs="ES256", scope="mcp"${error === "none" ? "" : `, error="${error}"`}`);
        if (error === "use_dpop_nonce") response.setHeader("dpop-nonce", nonce());
        response.statusCode = 401;
        return response.end();
    }
    const { authorization, dpop, host, ...headers } = request.headers;
    const forwarded = send(upstream, { method: request.method, headers }, (answer) => {
        response.writeHead(answer.statusCode, answer.headers);
        answer.pipe(response);
    });
    response.on("close", () => forwarded.destroy());
    forwarded.on("error", () => response.destroy());
    request.pipe(forwarded);
});
server.listen(0, "127.0.0.1", () => console.error(`listening on ${base()}/mcp`));

function base() {
    return `http://127.0.0.1:${server.address().port}`;
}

function nonce() {
    return `interop-${Math.floor(accepted / NONCE_USES)}`;
}

// Returns the error code of a request, or `none` for one without a token.
async function problem({ headers, method, url }) {
    if (!headers.authorization) return "none";
    const checked = new Request(base() + url, {
        method, headers: { authorization: headers.authorization, dpop: headers.dpop ?? "" },
    });
    const options = { requireDPoP: true, [oauth.allowInsecureRequests]: true };
    try {
        await oauth.validateJwtAccessToken(metadata, checked, `${base()}/mcp`, options);
    } catch (error) {
        console.error(`${error.code}: ${error.message}`);
        return "invalid_token";
    }
    const claims = JSON.parse(Buffer.from(headers.dpop.split(".")[1], "base64url"));
    if (proofs.has(claims.jti)) return "invalid_dpop_proof";
    proofs.add(claims.jti);
    if (claims.nonce !== nonce()) return "use_dpop_nonce";
    accepted += 1;
}

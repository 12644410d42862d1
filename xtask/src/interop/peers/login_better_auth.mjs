// A server with a login: the authorization server of better-auth. Its pages log the only user in and agree at once.
// Access tokens expire after 2 seconds with the argument `short`.
import { oauthProvider, oauthProviderAuthServerMetadata } from "@better-auth/oauth-provider";
import { betterAuth } from "better-auth";
import { memoryAdapter } from "better-auth/adapters/memory";
import { toNodeHandler } from "better-auth/node";
import { verifyBearerToken } from "better-auth/oauth2";
import { jwt } from "better-auth/plugins";
import { serve } from "./login_server.mjs";

serve(async (base) => {
    const issuer = `${base}/api/auth`;
    const models = ["user", "session", "account", "verification", "jwks", "oauthClient", "oauthRefreshToken",
        "oauthAccessToken", "oauthConsent", "oauthResource", "oauthClientResource", "oauthClientAssertion"];
    const auth = betterAuth({
        baseURL: base,
        secret: "a secret of this run, which is long enough",
        database: memoryAdapter(Object.fromEntries(models.map((model) => [model, []]))),
        emailAndPassword: { enabled: true },
        rateLimit: { enabled: false },
        telemetry: { enabled: false },
        plugins: [
            jwt(),
            oauthProvider({
                loginPage: "/login", consentPage: "/consent",
                resources: [`${base}/mcp`], clientRegistrationDefaultResources: [`${base}/mcp`],
                allowDynamicClientRegistration: true, allowUnauthenticatedClientRegistration: true,
                ...(process.argv[2] === "short" && { accessTokenExpiresIn: 2 }),
            }),
        ],
    });
    const user = { name: "ada", email: "ada@example.com", password: "the password of ada" };
    await auth.api.signUpEmail({ body: user });
    const metadata = oauthProviderAuthServerMetadata(auth);
    const handle = toNodeHandler(auth);
    const verify = async (token) => {
        const payload = await verifyBearerToken(token, {
            verifyOptions: { issuer, audience: `${base}/mcp` }, jwksUrl: `${issuer}/jwks`,
        });
        return { token, clientId: payload.azp, scopes: [], expiresAt: payload.exp };
    };
    const handler = async (request, response) => {
        const url = new URL(request.url, base);
        const query = url.search.slice(1);
        if (url.pathname === "/.well-known/oauth-authorization-server/api/auth") {
            const found = await metadata(new Request(url));
            return response.type("json").send(await found.text());
        }
        if (url.pathname === "/login") {
            const done = await auth.api.signInEmail({ body: user, asResponse: true });
            response.setHeader("set-cookie", done.headers.getSetCookie());
            return response.redirect(`${issuer}/oauth2/authorize?${query}`);
        }
        if (url.pathname === "/consent") {
            const done = await fetch(`${issuer}/oauth2/consent`, {
                method: "POST", body: JSON.stringify({ accept: true, oauth_query: query }),
                headers: { cookie: request.headers.cookie, "content-type": "application/json", origin: base },
            });
            const answer = await done.json();
            if (!done.ok) throw new Error(JSON.stringify(answer));
            return response.redirect(answer.url ?? answer.redirect_uri);
        }
        return handle(request, response);
    };
    return { issuer, scopes: ["openid"], verify, handler };
});

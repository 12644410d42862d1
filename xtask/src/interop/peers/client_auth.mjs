// Client of the TypeScript SDK for a protected server: registration, login, and a second login for the scope
// of one tool. The program `BROWSER` shows the pages, if it is set.
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { logIn } from "./login_pages.mjs";

const redirects = createServer();
await new Promise((resolve) => redirects.listen(0, "127.0.0.1", resolve));
const redirectUrl = `http://127.0.0.1:${redirects.address().port}/callback`;

// Opens a page in the browser. Returns the parameters of the redirect at its end.
function browse(page) {
    return new Promise((resolve, reject) => {
        redirects.on("request", function take(request, response) {
            response.end("done");
            const url = new URL(request.url, redirectUrl);
            // Chromium also asks for the icon of the page before.
            if (url.pathname !== "/callback") return;
            redirects.off("request", take);
            resolve(url.searchParams);
        });
        spawn(process.env.BROWSER, [page.href], { stdio: "ignore" }).once("error", reject);
    });
}
const stored = {};
let callback;
let logins = 0;
const provider = {
    redirectUrl,
    clientMetadata: {
        client_name: "interop", redirect_uris: [redirectUrl], grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"], token_endpoint_auth_method: "none",
    },
    clientInformation: () => stored.client,
    saveClientInformation: (client) => void (stored.client = client),
    tokens: () => stored.tokens,
    saveTokens: (tokens) => void (stored.tokens = tokens),
    codeVerifier: () => stored.verifier,
    saveCodeVerifier: (verifier) => void (stored.verifier = verifier),
    discoveryState: () => stored.discovery,
    saveDiscoveryState: (discovery) => void (stored.discovery = discovery),
    async redirectToAuthorization(url) {
        logins++;
        callback = await (process.env.BROWSER ? browse(url) : logIn(url, redirectUrl));
    },
};
const open = () => new StreamableHTTPClientTransport(new URL(process.argv[2]), { authProvider: provider });

// Runs `work`, and again after a login.
async function withLogin(transport, work) {
    for (let attempt = 0; ; attempt++) {
        try {
            return await work();
        } catch (error) {
            if (!callback || attempt === 3) throw error;
            const parameters = callback;
            callback = undefined;
            await transport().finishAuth(parameters);
        }
    }
}

let client, transport;
await withLogin(() => transport, async () => {
    client = new Client({ name: "interop", version: "1.0.0" });
    transport = open();
    await client.connect(transport);
});
const call = (name) => withLogin(() => transport, () => client.callTool({ name, arguments: {} }));
const first = JSON.parse((await call("test_whoami")).content[0].text);
const text = (await call("test_simple_text")).content[0].text;
const second = JSON.parse((await call("test_whoami")).content[0].text);
console.log(`${first.scopes} -> ${second.scopes}: ${text}`);
const works = first.subject && !first.scopes.includes("mcp:write") && second.scopes.includes("mcp:write");
console.log(works && logins === 2 ? "ok protected" : `no protected: ${logins} logins`);
await client.close();
process.exit(0);

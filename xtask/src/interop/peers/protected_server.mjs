// A server that demands a login, in front of another one. Its authorization server has the same origin, and every
// login page agrees at once.
import { createServer } from "node:http";

const TOKEN = "secret-token";

/** Starts the server before the endpoint `target`. Returns its URL, and the function that ends it. */
export async function protectedServer(target) {
  const server = createServer(async (request, response) => {
    const base = `http://${request.headers.host}`;
    const json = (status, body) => response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const { pathname, searchParams } = new URL(request.url, base);
    switch (pathname) {
      case "/.well-known/oauth-protected-resource/mcp":
        return json(200, { resource: `${base}/mcp`, authorization_servers: [base] });
      case "/.well-known/oauth-authorization-server":
        return json(200, {
          issuer: base, authorization_endpoint: `${base}/authorize`, token_endpoint: `${base}/token`, registration_endpoint: `${base}/register`,
          response_types_supported: ["code"], code_challenge_methods_supported: ["S256"], token_endpoint_auth_methods_supported: ["none"],
        });
      case "/register":
        return json(201, { ...JSON.parse(body), client_id: "client", registration_access_token: "secret-registration" });
      case "/authorize": {
        const back = new URL(searchParams.get("redirect_uri"));
        back.search = new URLSearchParams({ code: "secret-code", state: searchParams.get("state") });
        return response.writeHead(302, { location: back.href }).end();
      }
      case "/token":
        return json(200, { access_token: TOKEN, token_type: "Bearer", expires_in: 3600 });
    }
    if (pathname !== "/mcp") return response.writeHead(404).end();
    if (request.headers.authorization !== `Bearer ${TOKEN}`) {
      const metadata = `${base}/.well-known/oauth-protected-resource/mcp`;
      return response.writeHead(401, { "www-authenticate": `Bearer resource_metadata="${metadata}"` }).end();
    }
    const { host, connection, "content-length": length, ...headers } = request.headers;
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    try {
      const answer = await fetch(target, { method: request.method, headers, body: body.length ? body : undefined, signal: gone.signal });
      const { "content-length": size, "content-encoding": encoding, "transfer-encoding": transfer, ...kept } = Object.fromEntries(answer.headers);
      response.writeHead(answer.status, kept);
      for await (const chunk of answer.body ?? []) response.write(chunk);
    } catch {
      // The client has left.
    }
    response.end();
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return { url: `http://127.0.0.1:${server.address().port}/mcp`, stop: () => server.close() };
}

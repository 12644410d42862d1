"""A server with a login. `sdk`: the authorization server of the Python SDK; `proxy`: FastMCP's proxy of a provider
that registers no clients. All pages agree at once. With `short`, access tokens expire after 2 seconds."""

import json
import socket
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qsl, urlencode, urlparse
from uuid import uuid4

import uvicorn
from fastmcp import FastMCP
from fastmcp.server.auth import AccessToken, TokenVerifier
from fastmcp.server.auth.oauth_proxy import OAuthProxy
from fastmcp.server.auth.providers import in_memory
from fastmcp.server.dependencies import get_access_token
from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions


class Upstream(BaseHTTPRequestHandler):
    def do_GET(self):
        query = dict(parse_qsl(urlparse(self.path).query))
        answer = urlencode({"code": "code", "state": query["state"]})
        self.send_response(302)
        self.send_header("Location", f"{query['redirect_uri']}?{answer}")
        self.end_headers()

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        access = f"upstream-{uuid4()}"
        tokens = {"access_token": access, "token_type": "Bearer", "expires_in": lifetime, "refresh_token": "again"}
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(tokens).encode())

    def log_message(self, *_):
        pass


class Verifier(TokenVerifier):
    async def verify_token(self, token):
        return AccessToken(token=token, client_id="upstream", scopes=[])


lifetime = 2 if sys.argv[2:] == ["short"] else 3600
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen()
base = f"http://127.0.0.1:{listener.getsockname()[1]}"
if sys.argv[1] == "sdk":
    in_memory.DEFAULT_ACCESS_TOKEN_EXPIRY_SECONDS = lifetime
    auth = in_memory.InMemoryOAuthProvider(
        base_url=base,
        client_registration_options=ClientRegistrationOptions(enabled=True),
        revocation_options=RevocationOptions(enabled=True),
    )
else:
    upstream = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    Thread(target=upstream.serve_forever, daemon=True).start()
    provider = f"http://127.0.0.1:{upstream.server_port}"
    auth = OAuthProxy(
        upstream_authorization_endpoint=f"{provider}/authorize",
        upstream_token_endpoint=f"{provider}/token",
        upstream_client_id="given",
        upstream_client_secret="secret",
        token_verifier=Verifier(),
        base_url=base,
        require_authorization_consent=False,
        jwt_signing_key="a key for the tokens of this run",
    )
server = FastMCP("protected", auth=auth)


@server.tool
def token() -> str:
    """Return the token of the call."""
    return get_access_token().token


app = server.http_app()
print(f"listening on {base}/mcp", file=sys.stderr, flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])

"""Client of the Python SDK for a protected server: registration, login, and a second login for the scope of one
tool. The program `BROWSER` shows the pages, if it is set."""
import asyncio
import json
import os
import re
import sys
from urllib.parse import parse_qs, urljoin, urlsplit

import httpx2 as httpx
from mcp import ClientSession
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata


class Storage:
    tokens = None
    client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


def attribute(tag, name):
    found = re.search(rf' {name}="([^"]*)"', tag)
    return found and found[1].replace("&amp;", "&")


class Browser:
    logins = 0

    async def listen(self):
        """Waits for redirects."""
        self.callback = asyncio.Queue(1)
        self.listener = await asyncio.start_server(self.answer, "127.0.0.1", 0)
        port = self.listener.sockets[0].getsockname()[1]
        self.redirect = f"http://127.0.0.1:{port}/callback"

    async def answer(self, reader, writer):
        target = (await reader.readline()).decode().split(" ")[1]
        while (await reader.readline()).strip():
            pass
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\ndone")
        await writer.drain()
        writer.close()
        if target.startswith("/callback?"):
            await self.callback.put(target)

    async def log_in(self, page):
        self.logins += 1
        if program := os.environ.get("BROWSER"):
            await asyncio.create_subprocess_exec(program, page)
        else:
            await self.send_forms(page)

    async def send_forms(self, page):
        async with httpx.AsyncClient() as http:
            url, form = page, None
            for _ in range(30):
                if url.startswith(self.redirect):
                    return await self.callback.put(url)
                response = await (http.post(url, data=form) if form else http.get(url))
                form = None
                if location := response.headers.get("location"):
                    url = urljoin(url, location)
                    continue
                response.raise_for_status()
                body = re.search(r"<form.*?</form>", response.text, re.S)[0]
                url = urljoin(url, attribute(body, "action"))
                inputs = re.findall(r"<input[^>]*>", body)
                form = {attribute(tag, "name"): attribute(tag, "value") or "ada" for tag in inputs if attribute(tag, "name")}
        raise RuntimeError("the login has too many pages")

    async def wait(self):
        query = parse_qs(urlsplit(await self.callback.get()).query)
        value = lambda name: query.get(name, [None])[0]
        return AuthorizationCodeResult(code=value("code"), state=value("state"), iss=value("iss"))


async def main():
    browser = Browser()
    await browser.listen()
    metadata = OAuthClientMetadata(
        client_name="interop", redirect_uris=[browser.redirect], token_endpoint_auth_method="none",
    )
    provider = OAuthClientProvider(
        server_url=sys.argv[1], client_metadata=metadata, storage=Storage(), redirect_handler=browser.log_in,
        callback_handler=browser.wait,
    )
    async with httpx.AsyncClient(auth=provider, timeout=30) as http:
        async with streamable_http_client(sys.argv[1], http_client=http) as streams:
            async with ClientSession(streams[0], streams[1]) as session:
                await session.initialize()
                call = lambda name: session.call_tool(name, {})
                first = json.loads((await call("test_whoami")).content[0].text)
                text = (await call("test_simple_text")).content[0].text
                second = json.loads((await call("test_whoami")).content[0].text)
    print(f"{first['scopes']} -> {second['scopes']}: {text}")
    works = "mcp:write" not in first["scopes"] and "mcp:write" in second["scopes"]
    print("ok protected" if works and browser.logins == 2 else f"no protected: {browser.logins} logins")


asyncio.run(main())

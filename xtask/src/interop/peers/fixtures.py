"""Fixtures of the everything server that both Python servers share, and the HTTP server for them."""

import asyncio, functools, socket, sys
import uvicorn
from mcp.server.lowlevel import NotificationOptions
from pydantic import BaseModel

probes = {}

class User(BaseModel):
    username: str
    email: str

def register(server, Context):
    @server.tool()
    def test_simple_text() -> str:
        return "This is a simple text response for testing."

    @server.tool()
    async def test_tool_with_progress(context: Context) -> str:
        for progress in [0, 50, 100]:
            await context.report_progress(progress, 100)
        return "done"

    @server.tool()
    async def test_cancel_probe(token: str, seconds: float) -> str:
        probes[token] = "running"
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            probes[token] = "cancelled"
            raise
        probes[token] = "done"
        return "over"

    @server.tool()
    def test_cancel_status(token: str) -> str:
        return probes.get(token, "unknown")

    @server.resource("test://static-text")
    def static_text() -> str:
        return "This is the static text resource."

    @server.prompt()
    def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
        return f"{arg1} {arg2}"

def serve(server, low):
    # Without this option, sessions do not declare change notifications.
    options = NotificationOptions(tools_changed=True)
    low.create_initialization_options = functools.partial(low.create_initialization_options, options)
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}/mcp", file=sys.stderr, flush=True)
    config = uvicorn.Config(server.streamable_http_app(), log_level="warning")
    uvicorn.Server(config).run(sockets=[listener])

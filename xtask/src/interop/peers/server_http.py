"""A Python server with the fixtures of the everything server that the checks use, for both eras."""

import asyncio, functools, socket, sys
from typing import Annotated
import uvicorn
from mcp.server import MCPServer
from mcp.server.lowlevel import NotificationOptions
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.resolve import Elicit, Resolve, Sample
from mcp_types import CreateMessageResult, SamplingMessage, TextContent
from pydantic import BaseModel

server = MCPServer("interop")
probes = {}

class User(BaseModel):
    username: str
    email: str

def who(message: str) -> Elicit[User]:
    return Elicit(message, User)

def answer(prompt: str) -> Sample:
    return Sample([SamplingMessage(role="user", content=TextContent(type="text", text=prompt))], max_tokens=100)

@server.tool()
def test_simple_text() -> str:
    return "This is a simple text response for testing."

@server.tool()
async def test_tool_with_progress(context: Context) -> str:
    for progress in [0, 50, 100]:
        await context.report_progress(progress, 100)
    return "done"

@server.tool()
async def test_elicitation(message: str, user: Annotated[User, Resolve(who)]) -> str:
    return f"accept {user.model_dump_json()}"

@server.tool()
async def test_sampling(prompt: str, said: Annotated[CreateMessageResult, Resolve(answer)]) -> str:
    return said.content.text

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

@server.tool()
async def test_trigger_tool_change(context: Context) -> str:
    if context.protocol_version >= "2026":
        await context.notify_tools_changed()
    else:
        await context.session.send_tool_list_changed()
    return "told"

@server.resource("test://static-text")
def static_text() -> str:
    return "This is the static text resource."

@server.prompt()
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    return f"{arg1} {arg2}"

# Sessions are told that there are changes only when it is said here.
low = server._lowlevel_server
options = NotificationOptions(tools_changed=True)
low.create_initialization_options = functools.partial(low.create_initialization_options, options)

listener = socket.create_server(("127.0.0.1", 0))
print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}/mcp", file=sys.stderr, flush=True)
config = uvicorn.Config(server.streamable_http_app(), log_level="warning")
uvicorn.Server(config).run(sockets=[listener])

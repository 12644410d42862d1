"""A server of the first Python SDK with the fixtures of the everything server that the checks
use."""

import asyncio, functools, socket, sys
import uvicorn
from mcp.server.fastmcp import Context, FastMCP
from mcp.server.lowlevel import NotificationOptions
from mcp.types import SamplingMessage, TextContent
from pydantic import BaseModel

server = FastMCP("interop", log_level="WARNING")
probes = {}

class User(BaseModel):
    username: str
    email: str

@server.tool()
def test_simple_text() -> str:
    return "This is a simple text response for testing."

@server.tool()
async def test_tool_with_progress(context: Context) -> str:
    for progress in [0, 50, 100]:
        await context.report_progress(progress, 100)
    return "done"

@server.tool()
async def test_elicitation(message: str, context: Context) -> str:
    answer = await context.elicit(message, User)
    return f"{answer.action} {answer.data.model_dump_json()}"

@server.tool()
async def test_sampling(prompt: str, context: Context) -> str:
    message = SamplingMessage(role="user", content=TextContent(type="text", text=prompt))
    answer = await context.session.create_message(
        [message], max_tokens=100, related_request_id=context.request_id)
    return answer.content.text

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
    await context.session.send_tool_list_changed()
    return "told"

@server.resource("test://static-text")
def static_text() -> str:
    return "This is the static text resource."

@server.prompt()
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    return f"{arg1} {arg2}"

# Clients are told that there are changes only when it is said here.
low = server._mcp_server
options = NotificationOptions(tools_changed=True)
low.create_initialization_options = functools.partial(low.create_initialization_options, options)

listener = socket.create_server(("127.0.0.1", 0))
print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}/mcp", file=sys.stderr, flush=True)
config = uvicorn.Config(server.streamable_http_app(), log_level="warning")
uvicorn.Server(config).run(sockets=[listener])

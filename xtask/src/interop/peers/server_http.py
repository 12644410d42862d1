"""Server of the Python SDK for both eras, with the fixtures of the everything server that the checks use."""

from typing import Annotated
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.resolve import Elicit, Resolve, Sample
from mcp_types import CreateMessageResult, SamplingMessage, TextContent
from fixtures import User, register, serve

server = MCPServer("interop")
register(server, Context)

def who(message: str) -> Elicit[User]:
    return Elicit(message, User)

def answer(prompt: str) -> Sample:
    return Sample([SamplingMessage(role="user", content=TextContent(type="text", text=prompt))], max_tokens=100)

@server.tool()
async def test_elicitation(message: str, user: Annotated[User, Resolve(who)]) -> str:
    return f"accept {user.model_dump_json()}"

@server.tool()
async def test_sampling(prompt: str, said: Annotated[CreateMessageResult, Resolve(answer)]) -> str:
    return said.content.text

@server.tool()
async def test_trigger_tool_change(context: Context) -> str:
    if context.protocol_version >= "2026":
        await context.notify_tools_changed()
    else:
        await context.session.send_tool_list_changed()
    return "told"

serve(server, server._lowlevel_server)

"""Server of version 1 of the Python SDK, with the fixtures of the everything server that the checks
use."""

from mcp.server.fastmcp import Context, FastMCP
from mcp.types import SamplingMessage, TextContent
from fixtures import User, register, serve

server = FastMCP("interop", log_level="WARNING")
register(server, Context)

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
async def test_trigger_tool_change(context: Context) -> str:
    await context.session.send_tool_list_changed()
    return "told"

serve(server, server._mcp_server)

"""A server with one tool."""

from mcp.server.fastmcp import FastMCP
server = FastMCP("python")

@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b

server.run("stdio")

"""A server with one tool."""

from mcp.server import MCPServer
server = MCPServer("python")

@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b

server.run("stdio")

"""A server with one tool."""

from fastmcp import FastMCP
server = FastMCP("fastmcp")

@server.tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b

server.run(transport="stdio", show_banner=False)

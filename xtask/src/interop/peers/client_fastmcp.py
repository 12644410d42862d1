"""Client of FastMCP for the server at a URL."""

import asyncio, sys
from fastmcp import Client

async def main():
    async with Client(sys.argv[1]) as client:
        tools = await client.list_tools()
        result = await client.call_tool("test_simple_text", {})
        print(f"{len(tools)} tools: {result.content[0].text}")

asyncio.run(main())

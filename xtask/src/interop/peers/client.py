"""Client of the Python SDK for the server that the arguments start."""

import asyncio, sys
from mcp import Client, StdioServerParameters, stdio_client

async def main():
    command, *args = sys.argv[1:]
    async with Client(stdio_client(StdioServerParameters(command=command, args=args))) as client:
        tools = (await client.list_tools()).tools
        result = await client.call_tool("test_simple_text", {})
        print(f"{len(tools)} tools: {result.content[0].text}")

asyncio.run(main())

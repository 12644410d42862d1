"""Client of version 1 of the Python SDK for the server that the arguments start."""

import asyncio, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

async def main():
    command, *args = sys.argv[1:]
    parameters = StdioServerParameters(command=command, args=args)
    async with stdio_client(parameters) as (read, write), ClientSession(read, write) as client:
        await client.initialize()
        tools = (await client.list_tools()).tools
        result = await client.call_tool("test_simple_text", {})
        print(f"{len(tools)} tools: {result.content[0].text}")

asyncio.run(main())

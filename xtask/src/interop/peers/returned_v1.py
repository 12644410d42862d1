"""Validating client of version 1 of the Python SDK: calls each tool with each of its values, for the server that the
arguments start."""

import asyncio, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from returned import call_all

async def main():
    command, *args = sys.argv[1:]
    parameters = StdioServerParameters(command=command, args=args)
    async with stdio_client(parameters) as (read, write), ClientSession(read, write) as client:
        await client.initialize()
        await call_all(client)

asyncio.run(main())

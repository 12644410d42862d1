"""Validating client of the Python SDK: calls each tool with each of its values, for the server that the arguments
start."""

import asyncio, sys
from mcp import Client, StdioServerParameters, stdio_client
from returned import call_all

async def main():
    command, *args = sys.argv[1:]
    async with Client(stdio_client(StdioServerParameters(command=command, args=args))) as client:
        await call_all(client)

asyncio.run(main())

"""Client of version 1 of the Python SDK for the server at a URL, at a revision."""

import asyncio, sys
import mcp.types as types
from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client
from checks import Peer, check, handlers

class Caller(Peer):
    def start_call(self, name, arguments):
        # The SDK sends no cancellation when a task is cancelled. The program sends it, with the
        # request id that the SDK uses next.
        numbers = []
        async def run():
            numbers.append(self.client._request_id)
            await self.call(name, arguments)
        task = asyncio.create_task(run())
        async def cancel():
            params = types.CancelledNotificationParams(requestId=numbers[0])
            cancelled = types.CancelledNotification(params=params)
            await self.client.send_notification(types.ClientNotification(cancelled))
            task.cancel()
            await asyncio.wait([task])
        return cancel

async def main():
    url, revision = sys.argv[1:]
    changes = []
    # The client always requests the newest revision that it supports.
    types.LATEST_PROTOCOL_VERSION = revision
    async with (
        streamablehttp_client(url) as (read, write, _),
        ClientSession(read, write, **handlers(types, changes)) as client,
    ):
        print("revision", (await client.initialize()).protocolVersion)
        await check(Caller(client, changes))

asyncio.run(main())

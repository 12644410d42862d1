"""The first Python client against the server at a URL, at a revision."""

import asyncio, sys
import mcp.types as types
from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client
from checks import Peer, check, handlers

class Caller(Peer):
    def begin(self, name, arguments):
        # A call that is given up tells the server nothing: that is left to the program, which has
        # to know how calls are numbered.
        numbers = []
        async def run():
            numbers.append(self.client._request_id)
            await self.call(name, arguments)
        task = asyncio.create_task(run())
        async def give_up():
            params = types.CancelledNotificationParams(requestId=numbers[0])
            cancelled = types.CancelledNotification(params=params)
            await self.client.send_notification(types.ClientNotification(cancelled))
            task.cancel()
            await asyncio.wait([task])
        return give_up

async def main():
    url, revision = sys.argv[1:]
    told = []
    # The client asks for the newest revision that it has and for no other.
    types.LATEST_PROTOCOL_VERSION = revision
    async with (
        streamablehttp_client(url) as (read, write, _),
        ClientSession(read, write, **handlers(types, told)) as client,
    ):
        print("revision", (await client.initialize()).protocolVersion)
        await check(Caller(client, told))

asyncio.run(main())

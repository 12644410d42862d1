"""Client of the Python SDK for the server at a URL, at a revision."""

import asyncio, sys
import mcp.client.session
import mcp_types
from mcp import Client
from checks import Peer, check, handlers

class Caller(Peer):
    def start_call(self, name, arguments):
        task = asyncio.create_task(self.call(name, arguments))
        async def cancel():
            task.cancel()
            await asyncio.wait([task])
            assert task.cancelled(), "the call was answered"
        return cancel

    async def changed(self, trigger):
        if self.client.protocol_version < "2026":
            return await super().changed(trigger)
        async with self.client.listen(tools_list_changed=True) as changes:
            await trigger()
            return await asyncio.wait_for(anext(changes), 5) is not None

async def main():
    url, revision = sys.argv[1:]
    modern, changes = revision >= "2026", []
    # The client always requests the newest revision with sessions.
    mcp.client.session.LATEST_HANDSHAKE_VERSION = revision
    mode = "auto" if modern else "legacy"
    async with Client(url, mode=mode, **handlers(mcp_types, changes)) as client:
        print("revision", client.protocol_version)
        await check(Caller(client, changes))

asyncio.run(main())

"""The first Python client against the server at a URL, at a revision."""

import asyncio, sys
import mcp.types as types
from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client
from checks import PAUSE, SAMPLED, USER, check

class Peer:
    def __init__(self, client, told):
        self.client, self.told = client, told
        self.list_tools, self.list_resources = client.list_tools, client.list_resources
        self.list_prompts, self.prompt = client.list_prompts, client.get_prompt
        self.read, self.call = client.read_resource, client.call_tool

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

    async def changed(self, trigger):
        await trigger()
        await asyncio.sleep(5 * PAUSE)
        return bool(self.told)

async def main():
    url, revision = sys.argv[1:]
    told = []
    # The client asks for the newest revision that it has and for no other.
    types.LATEST_PROTOCOL_VERSION = revision
    async def elicit(context, params):
        return types.ElicitResult(action="accept", content=USER)
    async def sample(context, params):
        return types.CreateMessageResult.model_validate(SAMPLED)
    async def hear(message):
        if isinstance(getattr(message, "root", None), types.ToolListChangedNotification):
            told.append(message)
    handlers = dict(elicitation_callback=elicit, sampling_callback=sample, message_handler=hear)
    async with streamablehttp_client(url) as (read, write, _), ClientSession(read, write, **handlers) as client:
        print("revision", (await client.initialize()).protocolVersion)
        await check(Peer(client, told))

asyncio.run(main())

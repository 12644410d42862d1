"""The Python client against the server at a URL, at a revision."""

import asyncio, sys
import mcp.client.session
from mcp import Client
from mcp_types import CreateMessageResult, ElicitResult, ToolListChangedNotification
from checks import PAUSE, SAMPLED, USER, check

class Peer:
    def __init__(self, client, told):
        self.client, self.told = client, told
        self.list_tools, self.list_resources = client.list_tools, client.list_resources
        self.list_prompts, self.prompt = client.list_prompts, client.get_prompt
        self.read, self.call = client.read_resource, client.call_tool

    def begin(self, name, arguments):
        task = asyncio.create_task(self.call(name, arguments))
        async def give_up():
            task.cancel()
            await asyncio.wait([task])
            assert task.cancelled(), "the call was answered"
        return give_up

    async def changed(self, trigger):
        if self.client.protocol_version >= "2026":
            async with self.client.listen(tools_list_changed=True) as changes:
                await trigger()
                return await asyncio.wait_for(anext(changes), 5) is not None
        await trigger()
        await asyncio.sleep(5 * PAUSE)
        return bool(self.told)

async def main():
    url, revision = sys.argv[1:]
    modern, told = revision >= "2026", []
    # The client asks for the newest revision with sessions and for no other.
    mcp.client.session.LATEST_HANDSHAKE_VERSION = revision
    async def elicit(context, params):
        return ElicitResult(action="accept", content=USER)
    async def sample(context, params):
        return CreateMessageResult.model_validate(SAMPLED)
    async def hear(message):
        if isinstance(message, ToolListChangedNotification):
            told.append(message)
    handlers = dict(elicitation_callback=elicit, sampling_callback=sample, message_handler=hear)
    async with Client(url, mode="auto" if modern else "legacy", **handlers) as client:
        print("revision", client.protocol_version)
        await check(Peer(client, told))

asyncio.run(main())

"""Checks of a server with the fixtures of the everything server. They print `ok FEATURE` or
`no FEATURE: PROBLEM` for each feature. The peer has the operations that differ between clients:
`list_tools`, `list_resources`, `list_prompts`, `read`, `prompt`, `call`, `start_call` (starts a call
and returns a function that cancels it), `changed` (makes a change and returns true if a
notification arrived)."""

import asyncio, os, time

LIMIT, PAUSE = 15, 0.1
USER = {"username": "ada", "email": "ada@example.org"}
SAMPLED = {"model": "test-model", "role": "assistant", "content": {"type": "text", "text": "forty-two"}}

def has(answer, *wanted):
    for it in wanted:
        assert it in answer, f"`{it}` is not in `{answer}`"

def text(result):
    return result.content[0].text

class Peer:
    """Operations shared by the clients over HTTP. `changes` collects notifications of tool changes."""

    def __init__(self, client, changes):
        self.client, self.changes = client, changes
        self.list_tools, self.list_resources = client.list_tools, client.list_resources
        self.list_prompts, self.prompt = client.list_prompts, client.get_prompt
        self.read, self.call = client.read_resource, client.call_tool

    async def changed(self, trigger):
        await trigger()
        await asyncio.sleep(5 * PAUSE)
        return bool(self.changes)

def handlers(types, changes):
    """Callbacks for requests and notifications of the server, made of the SDK's types."""
    async def elicit(context, params):
        return types.ElicitResult(action="accept", content=USER)
    async def sample(context, params):
        return types.CreateMessageResult.model_validate(SAMPLED)
    async def on_message(message):
        if isinstance(getattr(message, "root", message), types.ToolListChangedNotification):
            changes.append(message)
    return dict(elicitation_callback=elicit, sampling_callback=sample, message_handler=on_message)

async def tools(peer):
    has([tool.name for tool in (await peer.list_tools()).tools], "test_simple_text")
    has(text(await peer.call("test_simple_text", {})), "simple text response")

async def resources(peer):
    uri = "test://static-text"
    has([str(resource.uri) for resource in (await peer.list_resources()).resources], uri)
    has((await peer.read(uri)).contents[0].text, "static text resource")

async def prompts(peer):
    name = "test_prompt_with_arguments"
    has([prompt.name for prompt in (await peer.list_prompts()).prompts], name)
    prompt = await peer.prompt(name, {"arg1": "hello", "arg2": "world"})
    has(prompt.messages[0].content.text, "hello", "world")

async def progress(peer):
    seen = []
    async def report(progress, total, message):
        seen.append(progress)
    await peer.call("test_tool_with_progress", {}, progress_callback=report)
    assert seen == [0, 50, 100], f"the reports were {seen}"

async def elicitation(peer):
    has(text(await peer.call("test_elicitation", {"message": "Who are you?"})), "accept", "ada@example.org")

async def sampling(peer):
    has(text(await peer.call("test_sampling", {"prompt": "What is the answer?"})), "forty-two")

async def cancellation(peer):
    token = f"python-{os.getpid()}-{time.monotonic_ns()}"
    async def status():
        return text(await peer.call("test_cancel_status", {"token": token}))
    cancel = peer.start_call("test_cancel_probe", {"token": token, "seconds": 60})
    while await status() != "running":
        await asyncio.sleep(PAUSE)
    await cancel()
    for _ in range(30):
        if await status() == "cancelled":
            return
        await asyncio.sleep(PAUSE)
    raise AssertionError(f"the server says that the call is `{await status()}`")

async def list_changed(peer):
    for _ in range(20):
        if await peer.changed(lambda: peer.call("test_trigger_tool_change", {})):
            return
    raise AssertionError("no notification of the change arrived")

async def check(peer):
    for feature in [tools, resources, prompts, progress, elicitation, sampling, cancellation, list_changed]:
        try:
            await asyncio.wait_for(feature(peer), LIMIT)
            print("ok", feature.__name__, flush=True)
        except Exception as error:
            print(f"no {feature.__name__}: {error!r}".replace("\n", " "), flush=True)

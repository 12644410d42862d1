"""What a client finds out about a server that has the fixtures of the everything server: a line
`ok FEATURE` or `no FEATURE: what was wrong` for each feature. The peer has what differs between
clients: `list_tools`, `list_resources`, `list_prompts`, `read`, `prompt`, `call`, `begin` (a call
that can be given up: a task and what gives it up), `changed` (makes a change and says whether it
was told)."""

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
    """What the clients over HTTP have in common; `told` is where they note a change of the tools."""

    def __init__(self, client, told):
        self.client, self.told = client, told
        self.list_tools, self.list_resources = client.list_tools, client.list_resources
        self.list_prompts, self.prompt = client.list_prompts, client.get_prompt
        self.read, self.call = client.read_resource, client.call_tool

    async def changed(self, trigger):
        await trigger()
        await asyncio.sleep(5 * PAUSE)
        return bool(self.told)

def handlers(types, told):
    """What answers the server and notes what it tells, made of the SDK's types."""
    async def elicit(context, params):
        return types.ElicitResult(action="accept", content=USER)
    async def sample(context, params):
        return types.CreateMessageResult.model_validate(SAMPLED)
    async def hear(message):
        if isinstance(getattr(message, "root", message), types.ToolListChangedNotification):
            told.append(message)
    return dict(elicitation_callback=elicit, sampling_callback=sample, message_handler=hear)

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
    give_up = peer.begin("test_cancel_probe", {"token": token, "seconds": 60})
    while await status() != "running":
        await asyncio.sleep(PAUSE)
    await give_up()
    for _ in range(30):
        if await status() == "cancelled":
            return
        await asyncio.sleep(PAUSE)
    raise AssertionError(f"the server says that the call is `{await status()}`")

async def list_changed(peer):
    for _ in range(20):
        if await peer.changed(lambda: peer.call("test_trigger_tool_change", {})):
            return
    raise AssertionError("no change was told")

async def check(peer):
    for feature in [tools, resources, prompts, progress, elicitation, sampling, cancellation, list_changed]:
        try:
            await asyncio.wait_for(feature(peer), LIMIT)
            print("ok", feature.__name__, flush=True)
        except Exception as error:
            print(f"no {feature.__name__}: {error!r}".replace("\n", " "), flush=True)

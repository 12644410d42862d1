"""Calls each tool with each of its values. The client compares each result with the tool's output schema. A tool's
description is its number of values."""

async def call_all(client):
    tools = (await client.list_tools()).tools
    calls = refused = 0
    for tool in tools:
        schema = tool.model_dump(by_alias=True).get("outputSchema")
        for index in range(int(tool.description)):
            calls += 1
            try:
                result = await client.call_tool(tool.name, {"index": index})
                result = result.model_dump(by_alias=True, mode="json")
                if result.get("isError") or schema is None or "structuredContent" not in result:
                    raise RuntimeError(result)
            except Exception as error:
                refused += 1
                print(f"{tool.name} {index}: {error!r}")
    print(f"{len(tools)} tools, {calls} calls, {refused} refused")

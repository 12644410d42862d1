"""An agent of LangChain: `host_langchain.py MODEL_URL COMMAND ARGUMENTS`. It prints the last message."""

import asyncio
import sys

from langchain.agents import create_agent
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_openai import ChatOpenAI


async def main() -> None:
    url, command, *args = sys.argv[1:]
    servers = {"shop": {"transport": "stdio", "command": command, "args": args}}
    tools = await MultiServerMCPClient(servers).get_tools()
    model = ChatOpenAI(model="scripted", api_key="none", base_url=f"{url}/v1", max_retries=0)
    agent = create_agent(model, tools)
    state = await agent.ainvoke({"messages": [{"role": "user", "content": "Call the tool."}]})
    print(state["messages"][-1].content)


asyncio.run(main())

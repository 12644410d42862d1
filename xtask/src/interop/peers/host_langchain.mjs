// An agent of LangChain JS: `host_langchain.mjs MODEL_URL COMMAND ARGUMENTS`. It prints the last message.

import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent } from 'langchain';

const [url, command, ...args] = process.argv.slice(2);
const client = new MultiServerMCPClient({ mcpServers: { shop: { transport: 'stdio', command, args } } });
const model = new ChatOpenAI({ model: 'scripted', apiKey: 'none', configuration: { baseURL: `${url}/v1` }, maxRetries: 0 });
const agent = createAgent({ model, tools: await client.getTools() });
const state = await agent.invoke({ messages: [{ role: 'user', content: 'Call the tool.' }] }, { recursionLimit: 100 });
console.log(state.messages.at(-1).content);
await client.close();

// A scripted language model with the APIs of OpenAI and Gemini: it calls the tool TOOL with the arguments
// ARGS once, and then repeats the tool's result. It refuses requests whose tools have schemas that providers
// refuse: arrays without `items` (OpenAI), and `oneOf` (OpenAI, strict). It prints its URL on stderr.

import http from 'node:http';

const args = JSON.parse(process.env.ARGS ?? '{}');
const wanted = process.env.TOOL;
let answers = 0;

/** Returns the reason why a provider refuses a schema. */
function refusal(schema, path = '#') {
    if (schema === null || typeof schema !== 'object') return undefined;
    if (Array.isArray(schema)) {
        return schema.map((item, at) => refusal(item, `${path}/${at}`)).find(Boolean);
    }
    if (schema.type === 'array' && schema.items === undefined) return `${path}: array schema missing items`;
    if (schema.oneOf !== undefined) return `${path}: 'oneOf' is not permitted`;
    return Object.entries(schema).map(([name, value]) => refusal(value, `${path}/${name}`)).find(Boolean);
}

/** The tool to call, by the end of its name: hosts add the name of the server before it. */
function find(names) {
    return names.find((name) => name === wanted || name.endsWith(`_${wanted}`));
}

function sse(response, events, named) {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    for (const event of events) {
        if (named) response.write(`event: ${event.type}\n`);
        response.write(`data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`);
    }
    response.end();
}

function json(response, body, status = 200) {
    response.writeHead(status, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(body));
}

function refuse(response, reason) {
    console.error(`refused ${reason}`);
    json(response, { error: { message: `Invalid schema: ${reason}`, type: 'invalid_request_error', code: 400, status: 'INVALID_ARGUMENT' } }, 400);
}

const text = (content) => (typeof content === 'string' ? content : JSON.stringify(content));

function chat(body, response) {
    const reason = (body.tools ?? []).map((tool) => refusal(tool.function.parameters, tool.function.name)).find(Boolean);
    if (reason) return refuse(response, reason);
    const name = find((body.tools ?? []).map((tool) => tool.function.name));
    const result = body.messages.find((message) => message.role === 'tool');
    const message = result
        ? { role: 'assistant', content: `RESULT ${text(result.content)}` }
        : name
            ? { role: 'assistant', content: null, tool_calls: [{ id: 'call_1', type: 'function', function: { name, arguments: JSON.stringify(args) } }] }
            : { role: 'assistant', content: `no tool ${wanted}` };
    // LangChain replaces a message by a later one with the same id.
    const base = { id: `chat_${answers++}`, created: 1, model: body.model };
    const finish_reason = message.tool_calls ? 'tool_calls' : 'stop';
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    if (!body.stream) {
        return json(response, { ...base, object: 'chat.completion', choices: [{ index: 0, message, finish_reason }], usage });
    }
    const delta = { ...message, tool_calls: message.tool_calls?.map((call, index) => ({ index, ...call })) };
    const chunk = (choice) => ({ ...base, object: 'chat.completion.chunk', choices: [{ index: 0, ...choice }] });
    sse(response, [chunk({ delta, finish_reason: null }), chunk({ delta: {}, finish_reason }), '[DONE]']);
}

function responses(body, response) {
    const functions = (body.tools ?? []).flatMap((tool) =>
        tool.type === 'namespace' ? tool.tools.map((inner) => ({ ...inner, namespace: tool.name })) : [tool]);
    const reason = functions.map((tool) => refusal(tool.parameters, tool.name)).find(Boolean);
    if (reason) return refuse(response, reason);
    const tool = functions.find((tool) => tool.name && find([tool.name]));
    const result = (body.input ?? []).find((item) => item.type === 'function_call_output');
    console.error(`tools ${functions.map((tool) => tool.name ?? tool.type).join(' ')}`);
    const item = result || !tool
        ? { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: result ? `RESULT ${text(result.output)}` : `no tool ${wanted}`, annotations: [] }] }
        : { type: 'function_call', id: 'fc_1', call_id: 'call_1', status: 'completed', name: tool.name, ...(tool.namespace ? { namespace: tool.namespace } : {}), arguments: JSON.stringify(args) };
    const created = { id: 'resp_1', object: 'response', created_at: 1, status: 'in_progress', model: body.model, output: [] };
    const usage = { input_tokens: 1, input_tokens_details: { cached_tokens: 0 }, output_tokens: 1, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 2 };
    sse(response, [
        { type: 'response.created', response: created },
        { type: 'response.output_item.added', output_index: 0, item },
        { type: 'response.output_item.done', output_index: 0, item },
        { type: 'response.completed', response: { ...created, status: 'completed', output: [item], usage } },
    ], true);
}

function gemini(body, response, streams) {
    const functions = (body.tools ?? []).flatMap((tool) => tool.functionDeclarations ?? []);
    const reason = functions.map((tool) => refusal(tool.parameters ?? tool.parametersJsonSchema, tool.name)).find(Boolean);
    if (reason) return refuse(response, reason);
    const name = find(functions.map((tool) => tool.name));
    console.error(`tools ${functions.map((tool) => tool.name).join(' ')}`);
    const parts = body.contents.flatMap((content) => content.parts ?? []);
    const result = parts.find((part) => part.functionResponse && find([part.functionResponse.name]));
    const part = result
        ? { text: `RESULT ${JSON.stringify(result.functionResponse.response)}` }
        : name
            ? { functionCall: { id: 'call_1', name, args } }
            : { text: `no tool ${wanted}` };
    const answer = { candidates: [{ index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' }], usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 } };
    if (streams) sse(response, [answer]);
    else json(response, answer);
}

const server = http.createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = chunks.length ? JSON.parse(Buffer.concat(chunks).toString()) : {};
    const path = request.url.split('?')[0];
    console.error(`${request.method} ${path}`);
    if (path.endsWith('/chat/completions')) chat(body, response);
    else if (path.endsWith('/responses')) responses(body, response);
    else if (path.endsWith(':streamGenerateContent')) gemini(body, response, true);
    else if (path.endsWith(':generateContent')) gemini(body, response, false);
    else if (path.endsWith(':countTokens')) json(response, { totalTokens: 1 });
    else if (path.endsWith('/models')) json(response, { object: 'list', data: [], models: [] });
    else json(response, { error: { message: 'not found' } }, 404);
});
server.listen(0, '127.0.0.1', () => console.error(`listening on http://127.0.0.1:${server.address().port}`));

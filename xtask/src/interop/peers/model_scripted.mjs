// A scripted language model with the APIs of OpenAI, Gemini and Anthropic: it makes the calls of STEPS, a JSON array of
// `[tool, arguments]`, and then repeats the result of the last one. `$FOUND` in arguments is the first tool name
// in the result before. The step "report" ends with the names of the tools in the first request, and all results. It refuses
// requests whose tools have schemas that providers
// refuse: arrays without `items` (OpenAI), and `oneOf` (OpenAI, strict). It prints its URL on stderr.

import http from 'node:http';

const steps = JSON.parse(process.env.STEPS);
let answers = 0;
let first;

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

/** Hosts add the name of the server before the name of a tool. */
const isNamed = (name, wanted) => name === wanted || name.endsWith(`_${wanted}`);

/** Returns the next call after the texts of these results, and the text that ends the conversation. */
function next(results, names) {
    const last = results.at(-1);
    if (names.length) first ??= names.join(' ');
    if (steps[results.length] === 'report') return { end: `RESULT ${first} RESULTS ${results.join(' ')}` };
    const [wanted, args] = steps[results.length] ?? [];
    if (!wanted) return { end: `RESULT ${last}` };
    const name = names.find((name) => isNamed(name, wanted));
    const found = /name\\*"\s*:\s*\\*"([\w.-]+)/.exec(last ?? '')?.[1] ?? 'nothing';
    return name ? { name, args: JSON.parse(JSON.stringify(args).replaceAll('$FOUND', found)) } : { end: `no tool ${wanted}` };
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
    const results = body.messages.filter((message) => message.role === 'tool').map((message) => text(message.content));
    const { name, args, end } = next(results, (body.tools ?? []).map((tool) => tool.function.name));
    const message = end
        ? { role: 'assistant', content: end }
        : { role: 'assistant', content: null, tool_calls: [{ id: `call_${results.length}`, type: 'function', function: { name, arguments: JSON.stringify(args) } }] };
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
    const results = (body.input ?? []).filter((item) => item.type === 'function_call_output').map((item) => text(item.output));
    const { name, args, end } = next(results, functions.map((tool) => tool.name).filter(Boolean));
    const tool = functions.find((tool) => tool.name === name);
    const id = results.length;
    console.error(`tools ${functions.map((tool) => tool.name ?? tool.type).join(' ')}`);
    const item = end
        ? { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: end, annotations: [] }] }
        : { type: 'function_call', id: `fc_${id}`, call_id: `call_${id}`, status: 'completed', name: tool.name, ...(tool.namespace ? { namespace: tool.namespace } : {}), arguments: JSON.stringify(args) };
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
    console.error(`tools ${functions.map((tool) => tool.name).join(' ')}`);
    const parts = body.contents.flatMap((content) => content.parts ?? []);
    const responses = parts.map((part) => part.functionResponse).filter((response) => response && steps.some(([wanted]) => isNamed(response.name, wanted)));
    const results = responses.map(({ response }) => JSON.stringify(response));
    const { name, args, end } = next(results, functions.map((tool) => tool.name));
    const part = end ? { text: end } : { functionCall: { id: `call_${results.length}`, name, args } };
    const answer = { candidates: [{ index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' }], usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 } };
    if (streams) sse(response, [answer]);
    else json(response, answer);
}

function messages(body, response) {
    const reason = (body.tools ?? []).map((tool) => refusal(tool.input_schema, tool.name)).find(Boolean);
    if (reason) return refuse(response, reason);
    const names = (body.tools ?? []).map((tool) => tool.name);
    console.error(`tools ${names.join(' ')}`);
    const blocks = body.messages.flatMap((message) => (Array.isArray(message.content) ? message.content : []));
    const results = blocks.filter((block) => block.type === 'tool_result').map((block) => text(block.content));
    const { name, args, end } = next(results, names);
    const content = end
        ? { type: 'text', text: end }
        : { type: 'tool_use', id: `toolu_${results.length}`, name, input: args };
    const stop_reason = content.type === 'tool_use' ? 'tool_use' : 'end_turn';
    const usage = { input_tokens: 1, output_tokens: 1 };
    const message = { id: `msg_${answers++}`, type: 'message', role: 'assistant', model: body.model, content: [], stop_reason: null, stop_sequence: null, usage };
    if (!body.stream) return json(response, { ...message, content: [content], stop_reason });
    const [content_block, delta] = content.type === 'text'
        ? [{ type: 'text', text: '' }, { type: 'text_delta', text: content.text }]
        : [{ ...content, input: {} }, { type: 'input_json_delta', partial_json: JSON.stringify(args) }];
    sse(response, [
        { type: 'message_start', message },
        { type: 'content_block_start', index: 0, content_block },
        { type: 'content_block_delta', index: 0, delta },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
        { type: 'message_stop' },
    ], true);
}

const server = http.createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = chunks.length ? JSON.parse(Buffer.concat(chunks).toString()) : {};
    const path = request.url.split('?')[0];
    console.error(`${request.method} ${path}`);
    if (path.endsWith('/chat/completions')) chat(body, response);
    else if (path.endsWith('/messages')) messages(body, response);
    else if (path.endsWith('/count_tokens')) json(response, { input_tokens: 1 });
    else if (path.endsWith('/responses')) responses(body, response);
    else if (path.endsWith(':streamGenerateContent')) gemini(body, response, true);
    else if (path.endsWith(':generateContent')) gemini(body, response, false);
    else if (path.endsWith(':countTokens')) json(response, { totalTokens: 1 });
    else if (path.endsWith('/models')) json(response, { object: 'list', data: [], models: [] });
    else json(response, { error: { message: 'not found' } }, 404);
});
server.listen(0, '127.0.0.1', () => console.error(`listening on http://127.0.0.1:${server.address().port}`));

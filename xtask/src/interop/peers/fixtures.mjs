// The fixtures of the everything server that the checks use, for both TypeScript servers.
import { z } from "zod";

const FORM = {
    type: "object",
    properties: { username: { type: "string" }, email: { type: "string" } },
    required: ["username", "email"],
};

const say = text => ({ content: [{ type: "text", text }] });
const pause = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds));
// What became of the probes, over all requests and sessions.
const probes = new Map();

// `way` is how a server does what differs between versions: report(context, progress),
// elicit(context, message, form), sample(context, prompt), signal(context), changed().
export function register(server, way) {
    const tool = (name, inputSchema, run) => server.registerTool(name, { inputSchema }, run);
    tool("test_simple_text", z.object({}), async () =>
        say("This is a simple text response for testing."));
    tool("test_tool_with_progress", z.object({}), async (_, context) => {
        for (const progress of [0, 50, 100]) await way.report(context, progress);
        return say("done");
    });
    tool("test_elicitation", z.object({ message: z.string() }), async ({ message }, context) =>
        way.elicit(context, message, FORM, answer => say(JSON.stringify(answer))));
    tool("test_sampling", z.object({ prompt: z.string() }), async ({ prompt }, context) =>
        way.sample(context, prompt, answer => say(answer.content.text)));
    const probe = z.object({ token: z.string(), seconds: z.number() });
    tool("test_cancel_probe", probe, async ({ token, seconds }, context) => {
        probes.set(token, "running");
        const cancelled = new Promise(resolve => {
            way.signal(context).addEventListener("abort", () => resolve("cancelled"));
        });
        probes.set(token, await Promise.race([cancelled, pause(seconds * 1000).then(() => "done")]));
        return say("over");
    });
    tool("test_cancel_status", z.object({ token: z.string() }), async ({ token }) =>
        say(probes.get(token) ?? "unknown"));
    tool("test_trigger_tool_change", z.object({}), async () => {
        way.changed();
        return say("told");
    });
    server.registerResource("static-text", "test://static-text", {}, async uri => ({
        contents: [{ uri: uri.href, text: "This is the static text resource." }],
    }));
    server.registerPrompt("test_prompt_with_arguments", {
        argsSchema: way.prompt({ arg1: z.string(), arg2: z.string() }),
    }, ({ arg1, arg2 }) => ({
        messages: [{ role: "user", content: { type: "text", text: `${arg1} ${arg2}` } }],
    }));
}

// Fixtures of the everything server that the checks use, shared by both TypeScript servers.
import { z } from "zod";

const FORM = {
    type: "object",
    properties: { username: { type: "string" }, email: { type: "string" } },
    required: ["username", "email"],
};

const say = text => ({ content: [{ type: "text", text }] });
const pause = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds));
// Results of the probes, over all requests and sessions.
const probes = new Map();

// `sdk` has the operations that differ between the servers: report(context, progress),
// elicit(context, message, form), sample(context, prompt), signal(context), changed().
export function register(server, sdk) {
    const tool = (name, inputSchema, run) => server.registerTool(name, { inputSchema }, run);
    tool("test_simple_text", z.object({}), async () =>
        say("This is a simple text response for testing."));
    tool("test_tool_with_progress", z.object({}), async (_, context) => {
        for (const progress of [0, 50, 100]) await sdk.report(context, progress);
        return say("done");
    });
    tool("test_elicitation", z.object({ message: z.string() }), async ({ message }, context) =>
        sdk.elicit(context, message, FORM, answer => say(JSON.stringify(answer))));
    tool("test_sampling", z.object({ prompt: z.string() }), async ({ prompt }, context) =>
        sdk.sample(context, prompt, answer => say(answer.content.text)));
    const probe = z.object({ token: z.string(), seconds: z.number() });
    tool("test_cancel_probe", probe, async ({ token, seconds }, context) => {
        probes.set(token, "running");
        const cancelled = new Promise(resolve => {
            sdk.signal(context).addEventListener("abort", () => resolve("cancelled"));
        });
        probes.set(token, await Promise.race([cancelled, pause(seconds * 1000).then(() => "done")]));
        return say("over");
    });
    tool("test_cancel_status", z.object({ token: z.string() }), async ({ token }) =>
        say(probes.get(token) ?? "unknown"));
    tool("test_trigger_tool_change", z.object({}), async () => {
        sdk.changed();
        return say("told");
    });
    server.registerResource("static-text", "test://static-text", {}, async uri => ({
        contents: [{ uri: uri.href, text: "This is the static text resource." }],
    }));
    server.registerPrompt("test_prompt_with_arguments", {
        argsSchema: sdk.prompt({ arg1: z.string(), arg2: z.string() }),
    }, ({ arg1, arg2 }) => ({
        messages: [{ role: "user", content: { type: "text", text: `${arg1} ${arg2}` } }],
    }));
}

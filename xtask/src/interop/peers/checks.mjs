// Checks of a server with the fixtures of the everything server. They print `ok FEATURE` or
// `no FEATURE: PROBLEM` for each feature. `peer` has the operations that differ between clients:
//   call(name, arguments, options)  calls a tool; options: onprogress, signal
//   client                          lists and reads resources and prompts
//   changes()                       number of notifications of tool changes

const LIMIT = 15_000;
const PAUSE = 100;

const pause = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds));

function has(answer, ...wanted) {
    for (const it of wanted) {
        if (!answer.includes(it)) throw new Error(`\`${it}\` is not in \`${answer}\``);
    }
}

function listed(items, key, wanted) {
    if (!items.some(item => item[key] === wanted)) throw new Error(`${wanted} is not listed`);
}

const text = result => result.content[0].text;

const features = {
    async tools({ client, call }) {
        listed((await client.listTools()).tools, "name", "test_simple_text");
        has(text(await call("test_simple_text", {})), "simple text response");
    },
    async resources({ client }) {
        const uri = "test://static-text";
        listed((await client.listResources()).resources, "uri", uri);
        has((await client.readResource({ uri })).contents[0].text, "static text resource");
    },
    async prompts({ client }) {
        const name = "test_prompt_with_arguments";
        listed((await client.listPrompts()).prompts, "name", name);
        const prompt = await client.getPrompt({ name, arguments: { arg1: "hello", arg2: "world" } });
        has(prompt.messages[0].content.text, "hello", "world");
    },
    async progress({ call }) {
        const seen = [];
        const onprogress = report => seen.push(report.progress);
        await call("test_tool_with_progress", {}, { onprogress });
        if (seen.join() !== "0,50,100") throw new Error(`the reports were ${seen}`);
    },
    async elicitation({ call }) {
        const answer = await call("test_elicitation", { message: "Who are you?" });
        has(text(answer), "accept", "ada@example.org");
    },
    async sampling({ call }) {
        has(text(await call("test_sampling", { prompt: "What is the answer?" })), "forty-two");
    },
    async cancellation({ call }) {
        const token = `node-${process.pid}-${Date.now()}`;
        const giveUp = new AbortController();
        const status = async () => text(await call("test_cancel_status", { token }));
        const probe = call("test_cancel_probe", { token, seconds: 60 }, { signal: giveUp.signal });
        const outcome = probe.then(() => "answered", () => "given up");
        while ((await status()) !== "running") await pause(PAUSE);
        giveUp.abort();
        has(await outcome, "given up");
        for (let round = 0; round < 30; round++) {
            if ((await status()) === "cancelled") return;
            await pause(PAUSE);
        }
        throw new Error(`the server says that the call is \`${await status()}\``);
    },
    async list_changed({ call, changes }) {
        const before = changes();
        for (let round = 0; round < 20; round++) {
            await call("test_trigger_tool_change", {});
            await pause(5 * PAUSE);
            if (changes() > before) return;
        }
        throw new Error("no notification of the change arrived");
    },
};

export async function check(peer) {
    for (const [feature, run] of Object.entries(features)) {
        const late = pause(LIMIT).then(() => Promise.reject(new Error("not done in time")));
        late.catch(() => {});
        try {
            await Promise.race([run(peer), late]);
            console.log(`ok ${feature}`);
        } catch (error) {
            console.log(`no ${feature}: ${error}`.replaceAll("\n", " "));
        }
    }
}

export const user = { action: "accept", content: { username: "ada", email: "ada@example.org" } };
export const sampled = {
    model: "test-model",
    role: "assistant",
    content: { type: "text", text: "forty-two" },
};

// Calls each tool with each of its values. The client compares each result with the tool's output schema. A tool's
// description is its number of values.

export async function callAll(client) {
    const { tools } = await client.listTools();
    let calls = 0, refused = 0;
    for (const { name, description, outputSchema } of tools) {
        for (let index = 0; index < Number(description); index++) {
            calls++;
            try {
                const result = await client.callTool({ name, arguments: { index } });
                if (result.isError || !outputSchema || result.structuredContent === undefined) {
                    throw new Error(JSON.stringify(result));
                }
            } catch (error) {
                refused++;
                console.log(`${name} ${index}: ${error.message}`);
            }
        }
    }
    console.log(`${tools.length} tools, ${calls} calls, ${refused} refused`);
    await client.close();
}

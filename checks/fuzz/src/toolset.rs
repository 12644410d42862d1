//! Tool sets: schemas of strangers become valid definitions, and the arguments of a model reach the server, within bounds.

use mcp_client::{Client, InProcess};
use mcp_server::{RawArgs, Server, Tool, ToolExt as _};
use mcp_toolset::{Provider, ToolSet};
use mcp_types::JsonObject;
use serde_json::{Value, json};

use crate::input::two_texts;
use crate::json_schema::FRAGMENTS;
use crate::target::Target;

pub(crate) const TARGET: Target = Target {
    name: "toolset",
    run,
    examples: EXAMPLES,
    fragments: FRAGMENTS,
};

const EXAMPLES: &[&[u8]] = &[
    b"{\"type\":\"object\",\"properties\":{\"a\":{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}},\"required\":[\"a\"]}\n{\"a\":\"{\\\"b\\\":1}\"}",
    b"{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#/$defs/a\"}},\"$defs\":{\"a\":{\"anyOf\":[{\"$ref\":\"#/$defs/a\"},{\"items\":{\"$ref\":\"#\"}}]}}}\n{\"a\":[{\"a\":null}]}",
    b"{\"type\":\"object\",\"properties\":{\"a\":{\"allOf\":[{\"$ref\":\"#\"},{\"enum\":[1,null,\"b\"]}],\"minLength\":\"1\",\"exclusiveMinimum\":true}}}\n{\"a\":[1]}",
    b"{\"type\":\"object\",\"oneOf\":[{\"properties\":{\"a\":{\"type\":[\"integer\",\"array\"],\"multipleOf\":0}}},{\"required\":[\"b\"]}]}\n{\"b\":{\"a\":\"[]\"}}",
    include_bytes!("json_schema/branches.txt"),
    include_bytes!("json_schema/chain.txt"),
];

const PROVIDERS: [Provider; 3] = [
    Provider::Anthropic,
    Provider::OpenAiResponsesStrict,
    Provider::Gemini,
];

/// Longest definitions of one tool, in bytes: the limit of its schema, and what is around it.
const MAX_DEFINITION: usize = 300_000;

/// The input: the input schema of a tool, then the arguments of a model.
fn run(input: &[u8]) {
    let Some((schema, arguments)) = two_texts(input) else {
        return;
    };
    let Ok(schema) = serde_json::from_str::<JsonObject>(schema) else {
        return;
    };
    let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    runtime
        .expect("a runtime")
        .block_on(check(schema, arguments));
}

async fn check(schema: JsonObject, arguments: Value) {
    let tool = Tool::new("t").input_schema(schema);
    let tool = tool.handler(async |arguments: RawArgs| arguments.as_str().to_owned());
    let server = Server::new("s", "1").tool(tool.forwarded());
    let Ok(client) = Client::connect(InProcess(server)).await else {
        return;
    };
    let tools = ToolSet::from(&client);
    for provider in PROVIDERS {
        let definitions = tools.definitions(provider).await.expect("a list");
        let length = definitions.to_string().len();
        assert!(length < MAX_DEFINITION, "{length} bytes");
        let definition = match provider {
            Provider::Gemini => &definitions[0]["functionDeclarations"][0],
            _ => &definitions[0],
        };
        for name in ["input_schema", "parameters"] {
            let schema = definition.get(name).unwrap_or(&Value::Bool(true));
            let checked = jsonschema::draft202012::meta::validate(schema);
            assert!(checked.is_ok(), "{provider:?}: {checked:?}: {schema}");
        }
    }
    let call = json!([{"type": "tool_use", "id": "c", "name": "t", "input": arguments}]);
    let blocks = tools.run(Provider::Anthropic, &call).await;
    assert_eq!(blocks.expect("a call of the set").len(), 1);
}

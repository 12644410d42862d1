//! The built-in check of arguments: it refuses no arguments that JSON Schema accepts.

use mcp_core::schema::{JsonSchema, Validator};
use mcp_core::{Call, InputState, Reply, ResultBody};
use mcp_server::{RawArgs, Server, Tool, ToolExt as _};
use mcp_types::{CallToolParams, JsonObject, RawObject};
use serde_json::Value;

use crate::input::two_texts;
use crate::schema::{EXAMPLES, FRAGMENTS};
use crate::server::send;
use crate::target::Target;

pub(crate) const TARGET: Target = Target {
    name: "arguments",
    run,
    examples: EXAMPLES,
    fragments: FRAGMENTS,
};

/// The input: the input schema of a tool, then arguments.
fn run(input: &[u8]) {
    let Some((schema, arguments)) = two_texts(input) else {
        return;
    };
    let Some((schema, refused)) = refusal(schema, arguments) else {
        return;
    };
    // An invalid JSON Schema, or one with other limits, is not comparable.
    let Ok(check) = JsonSchema.compile(&schema) else {
        return;
    };
    let value: Value = serde_json::from_str(arguments).expect("refused arguments are JSON");
    assert!(
        check.check(&value).is_err(),
        "refused ({refused}), but valid: {}\n{arguments}",
        Value::Object(schema)
    );
}

/// Returns the schema and the message of the built-in check, if it refuses the arguments.
fn refusal(schema: &str, arguments: &str) -> Option<(JsonObject, String)> {
    let schema: JsonObject = serde_json::from_str(schema).ok()?;
    let arguments = RawObject::from_text(arguments).ok()?;
    let handler = async |arguments: RawArgs| arguments.as_str().len().to_string();
    let tool = Tool::new("t").input_schema(schema.clone()).handler(handler);
    let server = Server::new("s", "1").tool(tool);
    let call = Call::CallTool(CallToolParams::new("t", Some(arguments)));
    match send(&server, call, InputState::default()) {
        Reply::Complete {
            body: ResultBody::CallTool(result),
            ..
        } if result.is_error() => Some((schema, result.text())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{EXAMPLES, refusal};
    use crate::input::two_texts;

    #[test]
    fn built_in_check_refuses_the_first_example() {
        let (schema, arguments) = two_texts(EXAMPLES[0]).expect("two lines");
        let (_, refused) = refusal(schema, arguments).expect("12 is more than 9");
        assert!(refused.contains('9'), "{refused}");
    }
}

//! JSON Schema: schemas and values of strangers are checked within bounds, and messages stay short.

use mcp_core::ParamHeaders;
use mcp_core::schema::{JsonSchema, Validator, Violations, lint};
use mcp_types::{JsonObject, Tool};
use serde_json::Value;

use crate::input::two_texts;
use crate::target::Target;

pub(crate) const TARGET: Target = Target {
    name: "json_schema",
    run,
    examples: EXAMPLES,
    fragments: FRAGMENTS,
};

pub(crate) const EXAMPLES: &[&[u8]] = &[
    b"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":9}},\"required\":[\"a\"]}\n{\"a\":12}",
    b"{\"properties\":{\"a\":{\"type\":\"string\",\"minLength\":2,\"maxLength\":3,\"pattern\":\"^a+b$\"}}}\n{\"a\":\"aaab\"}",
    b"{\"properties\":{\"a\":{\"type\":\"array\",\"items\":{\"multipleOf\":0.1},\"uniqueItems\":true,\"maxItems\":3}}}\n{\"a\":[1,1.0,0.3]}",
    b"{\"$defs\":{\"t\":{\"properties\":{\"a\":{\"$ref\":\"#/$defs/t\"}},\"minProperties\":1}},\"$ref\":\"#/$defs/t\"}\n{\"a\":{\"a\":{}}}",
    b"{\"anyOf\":[{\"required\":[\"a\"]},{\"not\":{\"required\":[\"b\"]}}],\"additionalProperties\":false}\n{\"b\":1}",
    b"{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"A\"}},\"patternProperties\":{\"(a*)*c\":{}}}\n{\"aaaaaaaaaaaaaaaaaaaaaaaa\":1}",
    b"{\"allOf\":[{\"allOf\":[{\"$ref\":\"#/$defs/a\"}],\"unevaluatedItems\":false}],\"unevaluatedItems\":false,\"$defs\":{\"a\":{\"oneOf\":[{\"items\":{\"$ref\":\"#\"}},{\"contains\":{\"$ref\":\"#\"}}]}}}\n[[[]],[]]",
    b"{\"enum\":[[1],[2],{\"a\":[1]}],\"uniqueItems\":true,\"maxLength\":3}\n[[1],[[1]],[[[1]]]]",
    include_bytes!("json_schema/branches.txt"),
    include_bytes!("json_schema/chain.txt"),
];

pub(crate) const FRAGMENTS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\n",
    "\"a\"",
    "\"b\"",
    "\"a\":",
    "0",
    "1",
    "-1",
    "0.1",
    "1e9",
    "1e308",
    "18446744073709551616",
    "true",
    "false",
    "null",
    "\"type\":",
    "\"object\"",
    "\"string\"",
    "\"integer\"",
    "\"number\"",
    "\"array\"",
    "[\"string\",\"null\"]",
    "\"properties\":{",
    "\"items\":",
    "\"prefixItems\":[",
    "\"required\":[",
    "\"minimum\":",
    "\"maximum\":",
    "\"exclusiveMinimum\":",
    "\"exclusiveMaximum\":",
    "\"multipleOf\":",
    "\"minLength\":",
    "\"maxLength\":",
    "\"pattern\":",
    "\"minItems\":",
    "\"maxItems\":",
    "\"uniqueItems\":",
    "\"enum\":[",
    "\"const\":",
    "\"allOf\":[",
    "\"anyOf\":[",
    "\"oneOf\":[",
    "\"not\":",
    "\"$ref\":",
    "\"#\"",
    "\"#/properties/a\"",
    "\"#/$defs/a\"",
    "\"$defs\":{",
    "\"$schema\":",
    "\"http://json-schema.org/draft-07/schema#\"",
    "\"https://json-schema.org/draft/2020-12/schema\"",
    "\"$id\":",
    "\"$dynamicRef\":",
    "\"$anchor\":",
    "\"patternProperties\":{",
    "\"additionalProperties\":",
    "\"unevaluatedProperties\":",
    "\"unevaluatedItems\":",
    "\"dependentSchemas\":{",
    "false",
    "\"if\":",
    "\"then\":",
    "\"else\":",
    "\"dependentRequired\":{",
    "\"contains\":",
    "\"minContains\":",
    "\"propertyNames\":",
    "\"format\":",
    "\"x-mcp-header\":",
    "\"(a*)*b\"",
    "\"^(?=a)\"",
    "\"\\\\d{1,999}\"",
    "\"[\"",
    "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"",
    "\"\\u00e9\"",
];

/// Longest message of a violation, in bytes, with its path.
const MAX_MESSAGE: usize = 4 * 1024;

/// The input: a schema, then a value.
fn run(input: &[u8]) {
    let Some((schema, value)) = two_texts(input) else {
        return;
    };
    let Ok(schema) = serde_json::from_str::<JsonObject>(schema) else {
        return;
    };
    let tool = Tool::new("t").input_schema(schema.clone());
    let lints = lint(&tool);
    let _ = lints.len();
    if let Err(error) = ParamHeaders::from_schema(&schema) {
        assert!(!error.to_string().is_empty());
    }
    let Ok(value) = serde_json::from_str::<Value>(value) else {
        return;
    };
    match JsonSchema.compile(&schema) {
        Ok(check) => {
            if let Err(violations) = check.check(&value) {
                let count = violations.iter().count();
                assert!((1..=Violations::MAX + 1).contains(&count), "{count}");
                let length = violations.to_string().len();
                assert!(length <= (Violations::MAX + 1) * MAX_MESSAGE, "{length}");
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

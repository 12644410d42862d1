//! JSON Schema: schemas of strangers, in each place that reads them, within bounds.

mod attacks;
mod visitors;

use mcp_types::JsonObject;
use serde_json::Value;

pub use attacks::{Attack, KEYWORDS, attacks};
pub use visitors::{VISITORS, Visitor};

use crate::input::two_texts;
use crate::target::Target;

pub(crate) const TARGET: Target = Target {
    name: "schema",
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
    b"{\"type\":\"object\",\"properties\":{\"a\":{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}},\"required\":[\"a\"]}\n{\"a\":\"{\\\"b\\\":1}\"}",
    b"{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#/$defs/a\"}},\"$defs\":{\"a\":{\"anyOf\":[{\"$ref\":\"#/$defs/a\"},{\"items\":{\"$ref\":\"#\"}}]}}}\n{\"a\":[{\"a\":null}]}",
    b"{\"type\":\"object\",\"properties\":{\"a\":{\"allOf\":[{\"$ref\":\"#\"},{\"enum\":[1,null,\"b\"]}],\"minLength\":\"1\",\"exclusiveMinimum\":true}}}\n{\"a\":[1]}",
    b"{\"type\":\"object\",\"oneOf\":[{\"properties\":{\"a\":{\"type\":[\"integer\",\"array\"],\"multipleOf\":0}}},{\"required\":[\"b\"]}]}\n{\"b\":{\"a\":\"[]\"}}",
    include_bytes!("schema/branches.txt"),
    include_bytes!("schema/chain.txt"),
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

/// The input: a schema, then arguments.
fn run(input: &[u8]) {
    let Some((schema, arguments)) = two_texts(input) else {
        return;
    };
    let Ok(schema) = serde_json::from_str::<JsonObject>(schema) else {
        return;
    };
    let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
    for visitor in VISITORS {
        (visitor.visit)(&schema, &arguments);
    }
}

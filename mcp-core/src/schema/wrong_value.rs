//! Keywords with values of a wrong type.

use mcp_types::JsonObject;
use serde_json::Value;

/// Returns the first keyword of a schema with a value of a wrong type, and what its value must be. Does not look into its subschemas.
pub(super) fn wrong_value(schema: &JsonObject) -> Option<(&str, &'static str)> {
    let strings = |value: &Value| {
        let list = value.as_array();
        list.is_some_and(|list| list.iter().all(Value::is_string))
    };
    let is_schema = |value: &Value| value.is_object() || value.is_boolean();
    schema.iter().find_map(|(keyword, value)| {
        let (is_right, expected) = match &**keyword {
            "required" => (strings(value), "a list of strings"),
            "type" => (
                value.is_string() || strings(value),
                "a string or a list of strings",
            ),
            "enum" | "examples" | "allOf" | "anyOf" | "oneOf" | "prefixItems" => {
                (value.is_array(), "a list")
            }
            "properties" | "patternProperties" | "$defs" => (value.is_object(), "an object"),
            "description" | "title" | "format" | "pattern" | "$ref" | "$schema" => {
                (value.is_string(), "a string")
            }
            "additionalProperties" | "not" => (is_schema(value), "a schema"),
            "items" => (
                is_schema(value) || value.is_array(),
                "a schema or a list of schemas",
            ),
            "minimum" | "maximum" | "exclusiveMaximum" | "exclusiveMinimum" | "multipleOf" => {
                (value.is_number() || value.is_boolean(), "a number")
            }
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties"
            | "maxProperties" => (value.is_u64(), "a whole number from 0"),
            _ => return None,
        };
        (!is_right).then_some((&**keyword, expected))
    })
}

//! Arguments made from a schema.

use std::sync::Arc;

use mcp::schema::{Check, JsonSchema, Validator as _};
use mcp::types::{JsonObject, Tool};
use mcp_testing::samples;
use serde_json::Value;

/// Samples of a tool.
const COUNT: usize = 4;

/// A compiled input schema, and arguments that match it.
pub(super) struct Samples {
    /// `None` if the schema cannot be compiled.
    pub(super) check: Option<Arc<dyn Check>>,
    /// All properties first, if possible.
    pub(super) valid: Vec<JsonObject>,
}

impl Samples {
    pub(super) fn new(tool: &Tool, seed: u64) -> Self {
        let schema = &*tool.input_schema;
        let check = JsonSchema.compile(schema).ok();
        let matches = |value: &Value| {
            let check = check.as_ref();
            check.is_none_or(|check| check.check(value).is_ok())
        };
        let made = samples(schema, seed).take(COUNT);
        let mut valid = Vec::new();
        for value in made.filter(matches) {
            if let Value::Object(args) = value
                && !valid.contains(&args)
            {
                valid.push(args);
            }
        }
        Self { check, valid }
    }
}

#[cfg(test)]
mod tests {
    use mcp::types::Tool;
    use serde_json::{Value, json};

    use super::Samples;

    fn samples(schema: &Value, seed: u64) -> Vec<Value> {
        let tool = Tool::new("a").input_schema(schema.as_object().unwrap().clone());
        let valid = Samples::new(&tool, seed).valid;
        valid.into_iter().map(Value::Object).collect()
    }

    #[test]
    fn samples_match_their_schema() {
        for property in [
            json!({"type": "string", "minLength": 30, "maxLength": 31}),
            json!({"type": "string", "pattern": "^[A-Z]{2}-\\d+$"}),
            json!({"type": "integer", "exclusiveMinimum": 3, "maximum": 4}),
            json!({"type": "number", "maximum": -2.5}),
            json!({"type": "integer", "multipleOf": 7}),
            json!({"type": ["string", "null"], "enum": ["x", "y"]}),
            json!({"anyOf": [{"type": "null"}, {"type": "boolean"}]}),
            json!({"type": "array", "items": {"type": "integer"}, "minItems": 3}),
            json!({"type": "array", "prefixItems": [{"const": 1}, {"const": "b"}]}),
            json!({"$ref": "#/$defs/node"}),
            json!({"allOf": [{"$ref": "#/$defs/node"}, {"required": ["value"]}]}),
        ] {
            let schema = json!({
                "type": "object", "properties": {"p": property}, "required": ["p"],
                "$defs": {"node": {"type": "object", "properties": {
                    "next": {"$ref": "#/$defs/node"}, "value": {"type": "integer"},
                }}},
            });
            let made = samples(&schema, 7);
            assert!(!made.is_empty(), "{schema}");
            assert_eq!(made, samples(&schema, 7));
        }
    }

    #[test]
    fn hostile_schemas_end() {
        let endless = json!({"type": "object", "properties": {"p": {"$ref": "#/properties/p"}}, "required": ["p"]});
        samples(&endless, 0);
        let wide = json!({"type": "array", "minItems": 1e18, "items": {"$ref": "#/properties/p"}});
        let schema = json!({"type": "object", "properties": {"p": wide}, "required": ["p"]});
        assert!(samples(&schema, 0).is_empty());
        let long = json!({"type": "string", "minLength": u64::MAX});
        let schema = json!({"type": "object", "properties": {"p": long}, "required": ["p"]});
        assert!(samples(&schema, 0).is_empty());
    }
}

//! A tool whose schema uses keywords of JSON Schema 2020-12.

use mcp::prelude::*;
use mcp::types::JsonObject;
use mcp::{RawArgs, ToolRoute};
use serde_json::json;

pub(crate) fn json_schema_2020_12_tool() -> ToolRoute {
    Tool::new("json_schema_2020_12_tool")
        .input_schema(schema())
        .description("Tool with JSON Schema 2020-12 features")
        .handler(|arguments: RawArgs| format!("called with {}", arguments.as_str()))
}

fn schema() -> JsonObject {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            },
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {
            "properties": {"contactMethod": {"const": "phone"}},
            "required": ["contactMethod"],
        },
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    });
    match schema {
        serde_json::Value::Object(schema) => schema,
        _ => JsonObject::new(),
    }
}

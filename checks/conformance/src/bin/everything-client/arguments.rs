//! Generation of tool arguments that match an input schema.

use mcp::types::JsonObject;
use serde_json::{Value, json};

/// Returns arguments that contain a value for every required property of an input schema.
pub(crate) fn for_schema(schema: &JsonObject) -> Value {
    let required = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let properties = schema.get("properties");
    let arguments = required.filter_map(|name| {
        let name = name.as_str()?;
        let property = properties.and_then(|properties| properties.get(name));
        Some((name.to_owned(), value(property)))
    });
    Value::Object(arguments.collect())
}

fn value(property: Option<&Value>) -> Value {
    match property
        .and_then(|property| property.get("type"))
        .and_then(Value::as_str)
    {
        Some("number" | "integer") => json!(1),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!("test"),
    }
}

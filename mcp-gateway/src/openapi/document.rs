//! Document parsing. A document of 3.0 is converted to 3.1.

use oas3::Spec;
use serde_json::{Map, Value, json};

use super::error::OpenApiError;

/// Longest document in bytes.
const MAX_BYTES: usize = 8 << 20;
/// Deepest nesting that is converted.
const MAX_DEPTH: usize = 64;

/// Parses a document in JSON or YAML.
pub(super) fn parse(text: &str) -> Result<Spec, OpenApiError> {
    if text.len() > MAX_BYTES {
        return Err(OpenApiError::TooLong(MAX_BYTES));
    }
    let malformed = |error: &dyn std::fmt::Display| OpenApiError::Malformed(error.to_string());
    let mut document: Value = if text.trim_start().starts_with('{') {
        serde_json::from_str(text).map_err(|error| malformed(&error))?
    } else {
        serde_saphyr::from_str(text).map_err(|error| malformed(&error))?
    };
    let version = document.get("openapi").and_then(Value::as_str);
    let version = version.unwrap_or_default().to_owned();
    if version.starts_with("3.0.") {
        modernize(&mut document, 0);
    } else if !version.starts_with("3.1.") {
        return Err(OpenApiError::Version(version));
    }
    serde_json::from_value(document).map_err(|error| malformed(&error))
}

/// Converts the keywords of schemas that 3.1 writes in another way: `nullable`, and the exclusive limits.
fn modernize(value: &mut Value, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    match value {
        Value::Array(items) => items
            .iter_mut()
            .for_each(|value| modernize(value, depth + 1)),
        Value::Object(members) => {
            modernize_schema(members);
            members
                .values_mut()
                .for_each(|value| modernize(value, depth + 1));
        }
        _ => {}
    }
}

fn modernize_schema(schema: &mut Map<String, Value>) {
    if let Some(Value::Bool(nullable)) = schema.get("nullable").cloned() {
        schema.remove("nullable");
        if nullable && !schema.contains_key("type") {
            allow_null(schema);
        }
        if let (true, Some(Value::String(kind))) = (nullable, schema.get("type").cloned()) {
            schema.insert("type".into(), Value::from(vec![kind, "null".to_owned()]));
            if let Some(Value::Array(values)) = schema.get_mut("enum")
                && !values.contains(&Value::Null)
            {
                values.push(Value::Null);
            }
        }
    }
    for (exclusive, limit) in [
        ("exclusiveMinimum", "minimum"),
        ("exclusiveMaximum", "maximum"),
    ] {
        if let Some(Value::Bool(is_exclusive)) = schema.get(exclusive).cloned() {
            schema.remove(exclusive);
            if is_exclusive && let Some(number) = schema.remove(limit) {
                schema.insert(exclusive.into(), number);
            }
        }
    }
}

/// Adds `null` to the alternatives of a schema without a type.
fn allow_null(schema: &mut Map<String, Value>) {
    let null = json!({"type": "null"});
    for keyword in ["anyOf", "oneOf"] {
        if let Some(Value::Array(alternatives)) = schema.get_mut(keyword) {
            alternatives.push(null);
            return;
        }
    }
    if let Some(all) = schema.remove("allOf") {
        let alternatives = vec![json!({ "allOf": all }), null];
        schema.insert("anyOf".into(), alternatives.into());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{OpenApiError, modernize, parse};

    #[test]
    fn schemas_of_3_0_become_those_of_3_1() {
        let mut schema = json!({"a": {
            "type": "integer", "nullable": true, "minimum": 3, "exclusiveMinimum": true,
            "maximum": 9, "exclusiveMaximum": false,
        }, "b": {"nullable": true, "allOf": [{}]}, "c": {"nullable": true, "oneOf": [{}]}});
        modernize(&mut schema, 0);
        let expected = json!({"a": {
            "type": ["integer", "null"], "exclusiveMinimum": 3, "maximum": 9,
        }, "b": {"anyOf": [{"allOf": [{}]}, {"type": "null"}]}, "c": {"oneOf": [{}, {"type": "null"}]}});
        assert_eq!(schema, expected);
    }

    #[test]
    fn other_versions_and_other_texts_are_refused() {
        let refused = parse(r#"{"swagger": "2.0"}"#).unwrap_err();
        assert_eq!(refused, OpenApiError::Version(String::new()));
        assert!(matches!(parse("{"), Err(OpenApiError::Malformed(_))));
        assert!(matches!(
            parse(&" ".repeat(9 << 20)),
            Err(OpenApiError::TooLong(_))
        ));
        let yaml = "openapi: 3.1.0\ninfo: {title: a, version: '1'}\npaths: {}\n";
        assert_eq!(parse(yaml).unwrap().info.title, "a");
    }
}

//! What strings become, and what stays as it is.

use mcp_types::RawObject;
use serde_json::{Value, json};

use super::coerce;

/// What the value of the one property becomes; `None` when nothing changes.
fn property(schema: Value, value: Value) -> Option<Value> {
    let schema = json!({
        "properties": {"p": schema},
        "$defs": {"number": {"type": "number"}, "loop": {"$ref": "#/$defs/loop"}},
    });
    let arguments = RawObject::from_value(&json!({"p": value})).unwrap();
    let coerced = coerce(&arguments, schema.as_object().unwrap())?;
    Some(coerced.parse::<Value>().unwrap()["p"].clone())
}

#[test]
fn strings_become_what_the_schema_asks_for() {
    for (schema, value, becomes) in [
        (json!({"type": "integer"}), json!("5"), json!(5)),
        (json!({"type": "integer"}), json!(" -5 "), json!(-5)),
        (json!({"type": "integer"}), json!("5.0"), json!(5)),
        (json!({"type": "integer"}), json!(5.0), json!(5)),
        (json!({"type": "number"}), json!("5.5"), json!(5.5)),
        (json!({"type": "boolean"}), json!("true"), json!(true)),
        (
            json!({"type": ["integer", "null"]}),
            json!("null"),
            json!(null),
        ),
        (
            json!({"type": "array"}),
            json!("[1, \"2\"]"),
            json!([1, "2"]),
        ),
        (
            json!({"type": "array", "items": {"type": "integer"}}),
            json!("[\"2\"]"),
            json!([2]),
        ),
        (
            json!({"type": "object"}),
            json!("{\"a\": 1}"),
            json!({"a": 1}),
        ),
        (
            json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}),
            json!("7"),
            json!(7),
        ),
        (json!({"$ref": "#/$defs/number"}), json!("7"), json!(7)),
        (
            json!({"prefixItems": [{"type": "integer"}, {"type": "string"}]}),
            json!(["1", "2"]),
            json!([1, "2"]),
        ),
        (
            json!({"additionalProperties": {"type": "boolean"}}),
            json!({"a": "false"}),
            json!({"a": false}),
        ),
        (
            json!({"oneOf": [{"properties": {"n": {"type": "integer"}}}, {"type": "string"}]}),
            json!({"n": "1"}),
            json!({"n": 1}),
        ),
    ] {
        assert_eq!(
            property(schema.clone(), value.clone()),
            Some(becomes),
            "{schema} {value}"
        );
    }
}

#[test]
fn all_else_stays_as_it_is() {
    for (schema, value) in [
        (json!({"type": "string"}), json!("5")),
        (json!({"type": ["string", "integer"]}), json!("5")),
        (
            json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
            json!("5"),
        ),
        (json!({"enum": ["5", 5]}), json!("5")),
        (json!({"const": "true", "type": "boolean"}), json!("true")),
        (json!({}), json!("5")),
        (json!(true), json!("5")),
        (json!({"type": "integer"}), json!("five")),
        (json!({"type": "integer"}), json!("5.5")),
        (json!({"type": "integer"}), json!(5.5)),
        (json!({"type": "integer"}), json!(1e300)),
        (json!({"type": "integer"}), json!("+5")),
        (json!({"type": "number"}), json!(5)),
        (json!({"type": "boolean"}), json!("True")),
        (json!({"type": "boolean"}), json!("1")),
        (json!({"type": "array"}), json!("1, 2")),
        (json!({"type": "integer"}), json!(true)),
        (json!({"$ref": "#/$defs/loop"}), json!("5")),
        (json!({"$ref": "#/$defs/none"}), json!("5")),
    ] {
        assert_eq!(
            property(schema.clone(), value.clone()),
            None,
            "{schema} {value}"
        );
    }
}

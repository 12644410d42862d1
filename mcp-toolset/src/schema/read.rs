//! References, types and keys of a schema.

use mcp_types::is_tool_name;
use serde_json::{Map, Value};

use crate::names::portable;

/// References that are followed in a row.
const MAX_HOPS: usize = 16;

/// Returns the schema behind the references of a schema. `None`: a circle, or a target outside the document.
pub(super) fn resolve<'a>(root: &'a Value, mut schema: &'a Value) -> Option<&'a Value> {
    for _ in 0..MAX_HOPS {
        let Some(reference) = schema.get("$ref").and_then(Value::as_str) else {
            return Some(schema);
        };
        schema = root.pointer(reference.strip_prefix('#')?)?;
    }
    None
}

/// Returns the types of a schema without alternatives. Empty: any.
pub(super) fn types(schema: &Map<String, Value>) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(one)) => return vec![one],
        Some(Value::Array(many)) => return many.iter().filter_map(Value::as_str).collect(),
        _ => {}
    }
    if schema.contains_key("properties") || schema.contains_key("additionalProperties") {
        return vec!["object"];
    }
    if schema.contains_key("items") || schema.contains_key("prefixItems") {
        return vec!["array"];
    }
    let values = values(schema);
    let mut types: Vec<&str> = values.into_iter().flatten().map(type_of).collect();
    types.sort_unstable();
    types.dedup();
    types
}

/// Returns the values of `enum` or `const`.
pub(super) fn values(schema: &Map<String, Value>) -> Option<Vec<&Value>> {
    match (schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(values)), _) => Some(values.iter().collect()),
        (_, Some(value)) => Some(vec![value]),
        _ => None,
    }
}

/// Returns the alternatives of a schema.
pub(super) fn alternatives(schema: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let keywords = ["anyOf", "oneOf"].into_iter();
    let lists = keywords.filter_map(|keyword| schema.get(keyword)?.as_array());
    lists.flatten()
}

/// Returns the schemas that apply together with a schema.
pub(super) fn all_of(schema: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    schema
        .get("allOf")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

/// Returns the properties that a schema names.
pub(super) fn properties(schema: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten()
}

/// Returns the names of the properties that a schema requires.
pub(super) fn required(schema: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let names = schema.get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str)
}

/// Returns the name of a property for a model: 64 characters of `A-Za-z0-9_.-` at most.
pub(super) fn key(own: &str) -> String {
    if own.len() <= 64 && is_tool_name(own) {
        own.to_owned()
    } else {
        portable(own, true)
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

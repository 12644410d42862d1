//! Replacement of alternatives at the root of a schema by one object.
//!
//! Language models and clients reject `oneOf` and `anyOf` at an input schema's root. The object
//! accepts every value that one of the alternatives accepts, and some invalid values. The decoding of
//! the arguments rejects the invalid values.

use mcp_types::JsonObject;
use serde_json::Value;

use super::portable::any_of;

/// Merges the alternatives at the root into one object, if all of them are objects.
pub(super) fn flatten(root: &mut JsonObject) {
    for keyword in ["oneOf", "anyOf"] {
        let Some(Value::Array(alternatives)) = root.get(keyword) else {
            continue;
        };
        let objects: Option<Vec<_>> = alternatives.iter().map(as_object).collect();
        let Some(objects) = objects.filter(|objects| !objects.is_empty()) else {
            continue;
        };
        let merged = merge(&objects);
        root.shift_remove(keyword);
        add_to_root(root, merged);
    }
}

fn as_object(schema: &Value) -> Option<JsonObject> {
    let schema = schema.as_object()?;
    (schema.get("type")? == "object").then(|| schema.clone())
}

/// Returns an object schema that accepts each alternative's values.
fn merge(alternatives: &[JsonObject]) -> JsonObject {
    let mut properties: Vec<(&String, Vec<Value>)> = Vec::new();
    let maps = alternatives.iter();
    let maps = maps.filter_map(|alternative| alternative.get("properties")?.as_object());
    for (name, schema) in maps.flatten() {
        match properties.iter_mut().find(|(known, _)| *known == name) {
            Some((_, schemas)) => schemas.push(schema.clone()),
            None => properties.push((name, vec![schema.clone()])),
        }
    }
    let properties = properties.into_iter();
    let properties = properties.map(|(name, schemas)| (name.clone(), any_of(&schemas)));
    let properties: JsonObject = properties.collect();
    let mut merged = JsonObject::new();
    merged.insert("properties".to_owned(), properties.into());
    let required = required_by_all(alternatives);
    if !required.is_empty() {
        merged.insert("required".to_owned(), required.into());
    }
    let is_closed = |alternative: &JsonObject| {
        alternative.get("additionalProperties") == Some(&Value::Bool(false))
    };
    if alternatives.iter().all(is_closed) {
        merged.insert("additionalProperties".to_owned(), false.into());
    }
    merged
}

/// Returns the names of required properties.
pub(crate) fn required(schema: &JsonObject) -> impl Iterator<Item = &str> {
    let names = schema.get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str)
}

/// Returns the properties that every alternative requires, in the order of the first alternative.
fn required_by_all(alternatives: &[JsonObject]) -> Vec<String> {
    let is_required = |other: &JsonObject, name| required(other).any(|own| own == name);
    let first = alternatives.first().into_iter();
    let first = first.flat_map(required);
    let shared = first.filter(|name| alternatives.iter().all(|other| is_required(other, *name)));
    shared.map(str::to_owned).collect()
}

/// Adds the merged keywords to the root. The root's own properties and keywords take precedence.
fn add_to_root(root: &mut JsonObject, merged: JsonObject) {
    root.insert("type".to_owned(), "object".into());
    for (keyword, value) in merged {
        match (root.get_mut(&keyword), value) {
            (Some(Value::Object(own)), Value::Object(more)) => {
                for (name, schema) in more {
                    own.entry(name).or_insert(schema);
                }
            }
            (Some(Value::Array(own)), Value::Array(more)) => own.extend(more),
            (Some(_), _) => {}
            (None, value) => {
                root.insert(keyword, value);
            }
        }
    }
}

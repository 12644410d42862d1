//! The arguments for the original schema.

use mcp_types::JsonObject;
use serde_json::{Map, Value};

use super::read::{all_of, alternatives, key, properties, required, resolve, types, values};

/// Levels of arguments that are restored. Deeper ones stay.
const MAX_DEPTH: usize = 64;

/// Converts the arguments that a model sent into those of the server: with the server's names, without `null` for
/// optional arguments, and with values parsed where the model sent JSON as a string.
pub(crate) fn restore(arguments: Value, schema: &JsonObject) -> Value {
    let root = Value::Object(schema.clone());
    value(arguments, &root, &root, 0)
}

fn value(given: Value, schema: &Value, root: &Value, depth: usize) -> Value {
    let Some(object) = resolve(root, schema).and_then(Value::as_object) else {
        return given;
    };
    if depth > MAX_DEPTH {
        return given;
    }
    match given {
        Value::String(text) if !accepts(object, root, "string", 0) => {
            match serde_json::from_str::<Value>(&text) {
                Ok(parsed @ (Value::Object(_) | Value::Array(_))) => {
                    value(parsed, schema, root, depth + 1)
                }
                _ => Value::String(text),
            }
        }
        // A schema for any value was sent as a string: what looks like an object or a list is one.
        Value::String(text) if is_any(object) && text.starts_with(['{', '[']) => {
            serde_json::from_str(&text).unwrap_or(Value::String(text))
        }
        Value::Object(members) => Value::Object(members_of(members, object, root, depth)),
        Value::Array(items) => {
            let kinds = std::iter::once(object).chain(parts(object, root));
            let kinds: Vec<_> = kinds.filter_map(|part| part.get("items")).collect();
            let restored = items.into_iter().map(|item| match kinds.first() {
                Some(kind) => value(item, kind, root, depth + 1),
                None => item,
            });
            Value::Array(restored.collect())
        }
        other => other,
    }
}

fn members_of(
    members: Map<String, Value>,
    schema: &Map<String, Value>,
    root: &Value,
    depth: usize,
) -> Map<String, Value> {
    let schemas: Vec<_> = std::iter::once(schema).chain(parts(schema, root)).collect();
    let properties: Vec<_> = schemas.iter().flat_map(|part| properties(part)).collect();
    let is_required = |own: &str| {
        let mut names = schemas.iter().flat_map(|part| required(part));
        names.any(|name| name == own)
    };
    let mut restored = Map::new();
    for (name, given) in members {
        let known = properties.iter().find(|(own, _)| **own == name);
        let known = known.or_else(|| properties.iter().find(|(own, _)| key(own) == name));
        let Some(&(own, property)) = known else {
            restored.insert(name, given);
            continue;
        };
        let may_be_null = || {
            let target = resolve(root, property).and_then(Value::as_object);
            target.is_some_and(|target| accepts(target, root, "null", 0) && !is_any(target))
        };
        if given.is_null() && !is_required(own) && !may_be_null() {
            continue;
        }
        restored.insert(own.clone(), value(given, property, root, depth + 1));
    }
    restored
}

/// Returns the schemas that may describe the members of a value, besides a schema itself.
fn parts<'a>(
    schema: &'a Map<String, Value>,
    root: &'a Value,
) -> impl Iterator<Item = &'a Map<String, Value>> {
    let parts = all_of(schema).chain(alternatives(schema));
    parts.filter_map(move |part| resolve(root, part)?.as_object())
}

fn is_any(schema: &Map<String, Value>) -> bool {
    types(schema).is_empty()
        && alternatives(schema).next().is_none()
        && all_of(schema).next().is_none()
}

/// Returns whether a schema accepts a type.
fn accepts(schema: &Map<String, Value>, root: &Value, kind: &str, depth: usize) -> bool {
    const MAX_LEVELS: usize = 8;

    if schema.get("nullable") == Some(&Value::Bool(true)) && kind == "null" {
        return true;
    }
    let kinds = types(schema);
    if !kinds.is_empty() {
        let has_value = |value: &&Value| kind != "null" || value.is_null();
        return kinds.contains(&kind)
            && values(schema).is_none_or(|values| values.iter().any(has_value));
    }
    let mut variants = alternatives(schema).peekable();
    if variants.peek().is_none() || depth > MAX_LEVELS {
        let mut all = all_of(schema).filter_map(|part| resolve(root, part)?.as_object());
        return depth > MAX_LEVELS || all.all(|part| accepts(part, root, kind, depth + 1));
    }
    variants.any(|variant| {
        let target = resolve(root, variant).and_then(Value::as_object);
        target.is_none_or(|target| accepts(target, root, kind, depth + 1))
    })
}

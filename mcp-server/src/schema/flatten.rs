//! Alternatives at the root of a schema, as one object: models and the clients before them refuse the
//! former. The object takes what one of the alternatives takes, and more; decoding knows the rest.
//!
//! `#[inline]`: only what reads its arguments as one type compiles this.

use mcp_types::JsonObject;
use serde_json::{Value, json};

/// Makes one object of the alternatives at the root, where these are objects.
#[inline]
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
        join(root, merged);
    }
}

#[inline]
fn as_object(schema: &Value) -> Option<JsonObject> {
    let schema = schema.as_object()?;
    (schema.get("type")? == "object").then(|| schema.clone())
}

/// The object that each of the alternatives is a case of.
#[inline]
fn merge(alternatives: &[JsonObject]) -> JsonObject {
    let mut properties: Vec<(&String, Vec<&Value>)> = Vec::new();
    for alternative in alternatives {
        let own = alternative.get("properties").and_then(Value::as_object);
        for (name, schema) in own.into_iter().flatten() {
            match properties.iter_mut().find(|(known, _)| *known == name) {
                Some((_, schemas)) if schemas.contains(&schema) => {}
                Some((_, schemas)) => schemas.push(schema),
                None => properties.push((name, vec![schema])),
            }
        }
    }
    let properties: JsonObject = properties
        .into_iter()
        .map(|(name, schemas)| (name.clone(), one_of(&schemas)))
        .collect();
    let required = |alternative: &JsonObject| names(alternative.get("required"));
    let common = required(&alternatives[0]).into_iter().filter(|name| {
        let mut others = alternatives.iter().map(required);
        others.all(|other| other.contains(name))
    });
    let common: Vec<String> = common.collect();
    let closed = alternatives
        .iter()
        .all(|alternative| alternative.get("additionalProperties") == Some(&Value::Bool(false)));
    let mut merged = JsonObject::new();
    merged.insert("properties".to_owned(), properties.into());
    if !common.is_empty() {
        merged.insert("required".to_owned(), common.into());
    }
    if closed {
        merged.insert("additionalProperties".to_owned(), false.into());
    }
    merged
}

#[inline]
fn names(required: Option<&Value>) -> Vec<String> {
    let names = required.and_then(Value::as_array);
    let names = names.into_iter().flatten().filter_map(Value::as_str);
    names.map(str::to_owned).collect()
}

/// A property that has several schemas: an enum where all are constants, else alternatives.
#[inline]
fn one_of(schemas: &[&Value]) -> Value {
    if let [only] = schemas {
        return (*only).clone();
    }
    let constants: Option<Vec<_>> = schemas.iter().map(|schema| constants(schema)).collect();
    match constants {
        Some(constants) => {
            let mut values = Vec::new();
            for value in constants.into_iter().flatten() {
                if !values.contains(&value) {
                    values.push(value);
                }
            }
            json!({"type": "string", "enum": values})
        }
        None => json!({"anyOf": schemas}),
    }
}

/// The strings that a schema takes, when it takes nothing else.
#[inline]
fn constants(schema: &Value) -> Option<Vec<Value>> {
    let listed = schema.get("enum").and_then(Value::as_array).cloned();
    let values = listed.or_else(|| Some(vec![schema.get("const")?.clone()]))?;
    values.iter().all(Value::is_string).then_some(values)
}

/// Adds what the alternatives say to what the root says itself.
#[inline]
fn join(root: &mut JsonObject, merged: JsonObject) {
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

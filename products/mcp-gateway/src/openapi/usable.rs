//! The usable part of a schema: what is malformed is left out with its place, and the rest is written in the forms of 2020-12.

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_schema::{Schema, Type, subschemas_mut};
use mcp_types::{JsonObject, escaped, shorten};
use serde_json::{Value, json};

/// Most lines about parts that are left out.
const MAX_LINES: usize = 50;
/// Most characters of a place, and of a reason: names in a document can be as long as the document.
const MAX_TEXT: usize = 300;

/// The number of a document's parts that are left out. The first ones are logged.
#[derive(Debug, Default)]
pub(super) struct LeftOutLog(AtomicUsize);

impl LeftOutLog {
    /// Logs a part.
    pub(super) fn add(&self, place: impl fmt::Display, reason: impl fmt::Display) {
        if self.0.fetch_add(1, Ordering::Relaxed) < MAX_LINES {
            let (place, reason) = (place.to_string(), reason.to_string());
            let (place, reason) = (shorten(&place, MAX_TEXT), shorten(&reason, MAX_TEXT));
            tracing::warn!(place = %escaped(place), reason = %escaped(reason), "a part of the OpenAPI document is left out");
        }
    }

    /// Logs the number of parts that are not logged.
    pub(super) fn finish(&self) {
        let count = self.0.load(Ordering::Relaxed).saturating_sub(MAX_LINES);
        if count > 0 {
            tracing::warn!(count, "further parts of the OpenAPI document are left out");
        }
    }

    /// Returns a schema in the forms of 2020-12, without keywords that are malformed. A schema beyond the limits accepts every value.
    pub(super) fn usable(&self, place: impl fmt::Display, schema: &Value) -> Value {
        match schema.as_object().map(Schema::parse) {
            Some(Ok(read)) => {
                self.add_malformed(place, &read);
                let mut usable = schema.clone();
                modernize(&mut usable);
                return usable;
            }
            Some(Err(error)) => self.add(place, error),
            None if schema.is_boolean() => return schema.clone(),
            None => self.add(place, "not a schema"),
        }
        json!({})
    }

    fn add_malformed(&self, place: impl fmt::Display, schema: &Schema<'_>) {
        for node in schema.nodes() {
            for (keyword, value) in node.object().into_iter().flatten() {
                if is_usable(keyword, value) == Some(false) {
                    self.add(
                        format_args!("{place} {}/{keyword}", node.pointer()),
                        "malformed",
                    );
                }
            }
            if node.object().is_none() && !node.is_true() && !node.is_false() {
                self.add(format_args!("{place} {}", node.pointer()), "not a schema");
            }
        }
    }
}

/// Returns whether a keyword has a value of its kind. `None`: tools do not have the keyword, or it says nothing.
fn is_usable(keyword: &str, value: &Value) -> Option<bool> {
    let list = value.as_array();
    let is_type = |kind: &Value| {
        let kind = kind.as_str();
        kind.is_some_and(|kind| Type::named(kind).is_some_and(|known| known.as_str() == kind))
    };
    Some(match keyword {
        "const" | "default" | "discriminator" | "example" => true,
        extension if extension.starts_with("x-") => true,
        _ if list.is_some_and(Vec::is_empty) => return None,
        "type" => is_type(value) || list.is_some_and(|kinds| kinds.iter().all(is_type)),
        "required" => list.is_some_and(|names| names.iter().all(Value::is_string)),
        "allOf" | "anyOf" | "enum" | "examples" | "oneOf" | "prefixItems" => list.is_some(),
        "patternProperties" | "properties" => value.is_object(),
        "additionalProperties" | "items" => value.is_object() || value.is_boolean(),
        "maximum" | "minimum" => value.is_number(),
        "exclusiveMaximum" | "exclusiveMinimum" => value.is_number() || value.is_boolean(),
        "multipleOf" => value.as_f64().is_some_and(|number| number > 0.0),
        "maxItems" | "maxLength" | "maxProperties" | "minItems" | "minLength" | "minProperties" => {
            value.is_u64()
        }
        "$ref" | "description" | "format" | "pattern" | "title" => value.is_string(),
        "deprecated" | "nullable" | "readOnly" | "uniqueItems" | "writeOnly" => value.is_boolean(),
        _ => return None,
    })
}

/// Writes a schema in the forms of 2020-12, and only with keywords that are usable.
fn modernize(schema: &mut Value) {
    let Value::Object(keywords) = schema else {
        if !schema.is_boolean() {
            *schema = json!({});
        }
        return;
    };
    keywords.retain(|keyword, value| is_usable(keyword, value) == Some(true));
    subschemas_mut(keywords).for_each(modernize);
    for keyword in ["required", "type"] {
        if let Some(Value::Array(names)) = keywords.get_mut(keyword) {
            let mut known = HashSet::new();
            names.retain(|name| known.insert(name.clone()));
        }
    }
    for (exclusive, limit) in [
        ("exclusiveMinimum", "minimum"),
        ("exclusiveMaximum", "maximum"),
    ] {
        if let Some(is_exclusive) = keywords.get(exclusive).and_then(Value::as_bool) {
            keywords.shift_remove(exclusive);
            if is_exclusive && let Some(number) = keywords.shift_remove(limit) {
                keywords.insert(exclusive.into(), number);
            }
        }
    }
    if keywords.shift_remove("nullable") == Some(Value::Bool(true)) {
        allow_null(keywords);
    }
}

/// Adds `null` to the types of a schema, or to its alternatives.
fn allow_null(keywords: &mut JsonObject) {
    if let Some(kinds) = keywords.get_mut("type") {
        let list = kinds.as_array().cloned();
        let mut list = list.unwrap_or_else(|| vec![kinds.clone()]);
        if !list.iter().any(|kind| kind == "null") {
            list.push("null".into());
            *kinds = list.into();
        }
        if let Some(Value::Array(values)) = keywords.get_mut("enum")
            && !values.contains(&Value::Null)
        {
            values.push(Value::Null);
        }
        return;
    }
    let null = json!({"type": "null"});
    for keyword in ["anyOf", "oneOf"] {
        if let Some(Value::Array(alternatives)) = keywords.get_mut(keyword) {
            alternatives.push(null);
            return;
        }
    }
    if let Some(all) = keywords.shift_remove("allOf") {
        let alternatives = vec![json!({ "allOf": all }), null];
        keywords.insert("anyOf".into(), alternatives.into());
    }
}

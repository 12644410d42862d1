//! The usable part of a document: what is malformed is left out with its place, and the rest stays.

use std::fmt;

use oas3::spec::{Components, ObjectOrReference, Operation, PathItem, Response, Schema};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// Deepest nesting of a schema that is repaired. What is deeper accepts every value.
const MAX_DEPTH: usize = 64;
/// Most references between path items.
const MAX_STEPS: usize = 16;
/// Most bytes of the path items that references copy, all together.
const MAX_COPIED: usize = 32 << 20;
/// Memory of a JSON value without its text, about.
const VALUE_BYTES: usize = 64;
/// Most lines about parts that are left out.
const MAX_LINES: usize = 50;

/// The members of a path item that are operations.
const METHODS: [&str; 8] = [
    "get", "put", "post", "delete", "options", "head", "patch", "trace",
];
/// Members of operations, parameters, bodies and responses that requests do not need.
const UNUSED: [&str; 8] = [
    "callbacks",
    "example",
    "examples",
    "externalDocs",
    "headers",
    "links",
    "security",
    "servers",
];

/// Returns the document with those parts only that can be read.
pub(super) fn usable(document: &Map<String, Value>) -> Value {
    let mut left_out = LeftOut::default();
    let mut paths = document.get("paths").cloned().unwrap_or_default();
    if let Some(paths) = paths.as_object_mut() {
        resolve_items(document, paths, &mut left_out);
        paths.retain(|path, item| keep_item(&format!("paths {path}"), item, &mut left_out));
    }
    let mut components = document.get("components").cloned().unwrap_or_default();
    if let Some(sections) = components.as_object_mut() {
        for (section, entries) in sections.iter_mut() {
            keep_entries(section, entries, &mut left_out);
        }
        sections.retain(|section, entries| {
            is_a::<Components>(&json!({ section: entries })) || left_out.add(section, "malformed")
        });
    }
    left_out.finish();
    let info = document.get("info");
    let text = |name: &str, otherwise: &str| match info.and_then(|info| info.get(name)) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => otherwise.to_owned(),
    };
    json!({
        "openapi": document.get("openapi"),
        "info": {"title": text("title", "HTTP service"), "version": text("version", "0")},
        "paths": paths.as_object().is_some().then_some(paths),
        "components": components.as_object().is_some().then_some(components),
    })
}

/// Counts what is left out, and logs the first parts.
#[derive(Default)]
struct LeftOut(usize);

impl LeftOut {
    /// Logs a part. Returns false.
    fn add(&mut self, place: &str, reason: impl fmt::Display) -> bool {
        self.0 += 1;
        if self.0 <= MAX_LINES {
            tracing::warn!(place = %mcp_types::escaped(&place), reason = %mcp_types::escaped(&reason), "a part of the OpenAPI document is left out");
        }
        false
    }

    fn finish(self) {
        if self.0 > MAX_LINES {
            let count = self.0 - MAX_LINES;
            tracing::warn!(count, "further parts of the OpenAPI document are left out");
        }
    }
}

fn is_a<T: DeserializeOwned>(value: &Value) -> bool {
    T::deserialize(value).is_ok()
}

/// Returns the reason why a value cannot be read.
fn problem<T: DeserializeOwned>(value: &Value) -> Option<String> {
    T::deserialize(value).err().map(|error| error.to_string())
}

/// Puts path items in the place of references to them. Members beside the reference win.
fn resolve_items(
    document: &Map<String, Value>,
    paths: &mut Map<String, Value>,
    left_out: &mut LeftOut,
) {
    let mut free = MAX_COPIED;
    for (path, item) in paths {
        for _ in 0..MAX_STEPS {
            let Some(reference) = item.get("$ref").and_then(Value::as_str) else {
                break;
            };
            let target = reference.strip_prefix('#').and_then(|pointer| {
                let (first, rest) = pointer.strip_prefix('/')?.split_once('/')?;
                document.get(first)?.pointer(&format!("/{rest}"))
            });
            let Some(target) = target.and_then(Value::as_object) else {
                left_out.add(path, format_args!("nothing is at {reference:?}"));
                break;
            };
            // After the first item that does not fit none is measured: that costs what a copy costs.
            if free > 0 {
                free = target.iter().fold(free, |free, (name, value)| {
                    free.saturating_sub(name.len() + size(value, free))
                });
            }
            if free == 0 {
                left_out.add(
                    path,
                    format_args!("all references copy more than {MAX_COPIED} bytes"),
                );
                break;
            }
            let mut resolved = target.clone();
            let own = item.as_object().into_iter().flatten();
            let own = own.filter(|(name, _)| *name != "$ref");
            resolved.extend(own.map(|(name, value)| (name.clone(), value.clone())));
            *item = Value::Object(resolved);
        }
    }
}

/// Returns the memory of a value in bytes, about. Stops at `max`.
fn size(value: &Value, max: usize) -> usize {
    let inner = |size: usize, name: &str, value: &Value| {
        if size >= max {
            return size;
        }
        size + name.len() + self::size(value, max - size)
    };
    match value {
        Value::String(text) => VALUE_BYTES + text.len(),
        Value::Array(items) => items
            .iter()
            .fold(VALUE_BYTES, |size, item| inner(size, "", item)),
        Value::Object(members) => members
            .iter()
            .fold(VALUE_BYTES, |size, (name, value)| inner(size, name, value)),
        _ => VALUE_BYTES,
    }
}

/// Repairs a path item's operations, or leaves them out. Returns false for an item that is left out.
fn keep_item(place: &str, item: &mut Value, left_out: &mut LeftOut) -> bool {
    let Some(members) = item.as_object_mut() else {
        return left_out.add(place, "not an object");
    };
    members.retain(|name, value| {
        let place = format!("{place} {name}");
        match name.as_str() {
            "parameters" => {
                repair_within(&place, value, 0, left_out);
                true
            }
            method if METHODS.contains(&method) => keep_operation(&place, value, left_out),
            // They are not used.
            "servers" | "summary" | "description" => false,
            _ => true,
        }
    });
    match problem::<PathItem>(item) {
        Some(reason) => left_out.add(place, reason),
        None => true,
    }
}

/// Repairs an operation. Returns false if it is left out all the same.
fn keep_operation(place: &str, operation: &mut Value, left_out: &mut LeftOut) -> bool {
    // Bundlers leave references to other documents in the place of operations.
    if let Some(reference) = operation.get("$ref").and_then(Value::as_str) {
        let reason = format_args!("{reference:?} refers to another document");
        return left_out.add(place, reason);
    }
    if is_a::<Operation>(operation) {
        return true;
    }
    repair_within(place, operation, 0, left_out);
    if let Some(Value::Object(responses)) = operation.get_mut("responses") {
        responses.retain(|status, response| {
            let place = format!("{place} responses {status}");
            is_a::<ObjectOrReference<Response>>(response) || left_out.add(&place, "malformed")
        });
    }
    match problem::<Operation>(operation) {
        Some(reason) => left_out.add(place, reason),
        None => true,
    }
}

/// Repairs the components of a section, or leaves them out.
fn keep_entries(section: &str, entries: &mut Value, left_out: &mut LeftOut) {
    let Some(entries) = entries.as_object_mut() else {
        return;
    };
    entries.retain(|name, entry| {
        let place = format!("components {section} {name}");
        if section == "schemas" {
            repair(&place, entry, 0, left_out);
            return true;
        }
        let is_readable =
            |entry: &Value| is_a::<Components>(&json!({ section: { name.as_str(): entry } }));
        if is_readable(entry) {
            return true;
        }
        repair_within(&place, entry, 0, left_out);
        is_readable(entry) || left_out.add(&place, "malformed")
    });
}

/// Repairs the schemas below a value that is not a schema itself, and removes members that are not used.
fn repair_within(place: &str, value: &mut Value, depth: usize, left_out: &mut LeftOut) {
    if depth > MAX_DEPTH {
        return;
    }
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                repair_within(&format!("{place} {index}"), item, depth + 1, left_out);
            }
        }
        Value::Object(members) => {
            members.retain(|name, _| !UNUSED.contains(&name.as_str()));
            for (name, value) in members {
                let place = format!("{place} {name}");
                if name == "schema" {
                    repair(&place, value, depth + 1, left_out);
                } else {
                    repair_within(&place, value, depth + 1, left_out);
                }
            }
        }
        _ => {}
    }
}

/// Repairs a schema: removes the keywords that cannot be read, the innermost first.
fn repair(place: &str, schema: &mut Value, depth: usize, left_out: &mut LeftOut) {
    if is_a::<Schema>(schema) {
        return;
    }
    if let Some(keywords) = schema.as_object_mut().filter(|_| depth <= MAX_DEPTH) {
        for (keyword, value) in keywords.iter_mut() {
            repair_keyword(place, keyword, value, depth, left_out);
        }
        keywords.retain(|keyword, value| {
            is_a::<Schema>(&json!({ keyword: value }))
                || left_out.add(&format!("{place} {keyword}"), "malformed")
        });
    }
    if !is_a::<Schema>(schema) {
        left_out.add(place, "not a schema");
        *schema = json!({});
    }
}

/// Repairs the schemas in a keyword's value.
fn repair_keyword(
    place: &str,
    keyword: &str,
    value: &mut Value,
    depth: usize,
    left_out: &mut LeftOut,
) {
    let place = format!("{place} {keyword}");
    match (keyword, value) {
        ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(alternatives)) => {
            for (index, schema) in alternatives.iter_mut().enumerate() {
                repair(&format!("{place} {index}"), schema, depth + 1, left_out);
            }
        }
        (
            "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
            Value::Object(members),
        ) => {
            for (name, schema) in members {
                repair(&format!("{place} {name}"), schema, depth + 1, left_out);
            }
        }
        (
            "additionalProperties"
            | "contains"
            | "contentSchema"
            | "else"
            | "if"
            | "items"
            | "not"
            | "propertyNames"
            | "then"
            | "unevaluatedItems"
            | "unevaluatedProperties",
            schema,
        ) => repair(&place, schema, depth + 1, left_out),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::{MAX_COPIED, usable};

    #[test]
    fn references_to_path_items_copy_a_bounded_amount() {
        const ITEM: usize = 1 << 20;
        const PATHS: usize = 200;
        let item = json!({"get": {"description": "x".repeat(ITEM), "responses": {}}});
        let paths: Map<String, Value> = (0..PATHS)
            .map(|number| {
                (
                    format!("/{number:03}"),
                    json!({"$ref": "#/components/pathItems/A"}),
                )
            })
            .collect();
        let document =
            json!({"openapi": "3.1.0", "paths": paths, "components": {"pathItems": {"A": item}}});
        let usable = usable(document.as_object().unwrap());
        let paths = usable["paths"].as_object().unwrap();
        let resolved = paths.values().filter(|item| item.get("get").is_some());
        let resolved = resolved.count();
        assert_eq!(resolved, MAX_COPIED / ITEM - 1);
        assert!(usable.to_string().len() < MAX_COPIED + 2 * ITEM);
    }
}

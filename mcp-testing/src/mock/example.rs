//! Examples of JSON Schemas.

use std::cell::Cell;
use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// Maximum nesting depth of an example.
const MAX_DEPTH: usize = 32;
/// Deepest nesting of objects whose optional members are filled in.
const OPTIONAL_DEPTH: usize = 3;
/// Most items of an array, and most characters that a limit adds.
const MAX_LENGTH: u64 = 1_000;

/// Values in an example, and bytes of their texts. What is beyond is `null`.
const MAX_SIZE: usize = 200_000;

/// Returns a value that matches a schema. `pattern`, `not` and conditions are not considered. The size is bounded,
/// whatever the schema is.
pub(super) fn of(schema: &Value) -> Value {
    let examples = Examples {
        root: schema,
        left: Cell::new(MAX_SIZE),
    };
    examples.value(schema, 0, 0)
}

struct Examples<'a> {
    root: &'a Value,
    /// The size that the example may still have.
    left: Cell<usize>,
}

/// A schema without some of its keywords.
#[derive(Clone, Copy)]
struct Part<'a> {
    map: &'a Map<String, Value>,
    without: &'a [&'a str],
    /// The `type` of the schema around it, which counts if it has none.
    outer_type: Option<&'a Value>,
}

impl<'a> Part<'a> {
    fn get(self, key: &str) -> Option<&'a Value> {
        let own = self.map.get(key).filter(|_| !self.without.contains(&key));
        own.or_else(|| self.outer_type.filter(|_| key == "type"))
    }
}

impl Examples<'_> {
    /// Counts a value. Returns false if the example is large enough.
    fn count(&self, size: usize) -> bool {
        let left = self.left.get().checked_sub(size);
        self.left.set(left.unwrap_or(0));
        left.is_some()
    }

    /// Returns an example. The number makes items of one array different.
    fn value(&self, schema: &Value, depth: usize, number: u64) -> Value {
        let Some(map) = schema.as_object() else {
            return Value::Null;
        };
        let part = Part {
            map,
            without: &[],
            outer_type: None,
        };
        self.part(part, depth, number)
    }

    fn part(&self, part: Part<'_>, depth: usize, number: u64) -> Value {
        if depth >= MAX_DEPTH || !self.count(1) {
            return Value::Null;
        }
        let stated = ["const", "default"]
            .into_iter()
            .find_map(|key| part.get(key));
        let first = |key: &str| part.get(key).and_then(Value::as_array)?.first();
        if let Some(value) = stated
            .or_else(|| first("examples"))
            .or_else(|| first("enum"))
        {
            let is_small = self.count(size(value));
            return if is_small { value.clone() } else { Value::Null };
        }
        if let Some(reference) = part.get("$ref").and_then(Value::as_str) {
            let target = reference
                .strip_prefix('#')
                .and_then(|pointer| self.root.pointer(pointer));
            return target.map_or(Value::Null, |target| self.value(target, depth + 1, number));
        }
        if let Some(parts) = part.get("allOf").and_then(Value::as_array) {
            return self.all(part, parts, depth, number);
        }
        for key in ["oneOf", "anyOf"] {
            if let Some(branch) = first(key) {
                return self.branch(part, key, branch, depth, number);
            }
        }
        self.of_type(part, depth, number)
    }

    /// Merges the examples of objects.
    fn all(&self, part: Part<'_>, parts: &[Value], depth: usize, number: u64) -> Value {
        let without = [part.without, &["allOf"]].concat();
        let own = Part {
            without: &without,
            ..part
        };
        let mut merged = self.part(own, depth + 1, number);
        for part in parts {
            match (&mut merged, self.value(part, depth + 1, number)) {
                (Value::Object(merged), Value::Object(value)) => merged.extend(value),
                (merged, value) if !value.is_null() => *merged = value,
                _ => {}
            }
        }
        merged
    }

    /// Merges the branch's example with that of the schema around it.
    fn branch(
        &self,
        part: Part<'_>,
        key: &str,
        branch: &Value,
        depth: usize,
        number: u64,
    ) -> Value {
        let value = match branch {
            Value::Object(map) => {
                let outer_type = part.get("type").filter(|_| !map.contains_key("$ref"));
                let branch = Part {
                    map,
                    without: &[],
                    outer_type,
                };
                self.part(branch, depth + 1, number)
            }
            _ => Value::Null,
        };
        let without = [part.without, &[key]].concat();
        let around = Part {
            without: &without,
            ..part
        };
        match (self.part(around, depth + 1, number), value) {
            (Value::Object(mut around), Value::Object(value)) => {
                around.extend(value);
                Value::Object(around)
            }
            (_, value) => value,
        }
    }

    fn of_type(&self, part: Part<'_>, depth: usize, number: u64) -> Value {
        let map = part.map;
        let name = match part.get("type") {
            Some(Value::Array(names)) => names.first().and_then(Value::as_str),
            Some(name) => name.as_str(),
            None if map.contains_key("properties") => Some("object"),
            None if map.contains_key("items") => Some("array"),
            None => None,
        };
        match name {
            Some("object") => self.object(map, depth),
            Some("array") => self.array(map, depth),
            Some("string") => {
                let text = string(map, number);
                let is_small = self.count(size(&text));
                if is_small { text } else { Value::Null }
            }
            Some("integer") => integer(map, number),
            Some("number") => float(map, number),
            Some("boolean") => json!(true),
            _ => Value::Null,
        }
    }

    fn object(&self, map: &Map<String, Value>, depth: usize) -> Value {
        let empty = Map::new();
        let properties = map.get("properties").and_then(Value::as_object);
        let properties = properties.unwrap_or(&empty);
        let required = map.get("required").and_then(Value::as_array);
        let required: BTreeSet<&str> = required
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let mut object = Map::new();
        for (key, schema) in properties {
            if (required.contains(key.as_str()) || depth < OPTIONAL_DEPTH) && self.count(key.len())
            {
                object.insert(key.clone(), self.value(schema, depth + 1, 0));
            }
        }
        for key in required {
            if !object.contains_key(key) && self.count(key.len()) {
                let other = map.get("additionalProperties").unwrap_or(&Value::Null);
                object.insert(key.to_owned(), self.value(other, depth + 1, 0));
            }
        }
        Value::Object(object)
    }

    fn array(&self, map: &Map<String, Value>, depth: usize) -> Value {
        let prefix = map.get("prefixItems").and_then(Value::as_array);
        let mut items: Vec<Value> = prefix
            .into_iter()
            .flatten()
            .map(|schema| self.value(schema, depth + 1, 0))
            .collect();
        let wanted = map.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        let schema = map.get("items").unwrap_or(&Value::Null);
        let mut number = 0;
        while (items.len() as u64) < wanted.min(MAX_LENGTH) {
            items.push(self.value(schema, depth + 1, number));
            number += 1;
        }
        Value::Array(items)
    }
}

/// Returns the number of values in a value, and the bytes of their texts.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => 1 + text.len(),
        Value::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(name, member)| name.len() + size(member));
            1 + members.sum::<usize>()
        }
        _ => 1,
    }
}

fn string(map: &Map<String, Value>, number: u64) -> Value {
    let format = map.get("format").and_then(Value::as_str);
    let text = match format {
        Some("date-time") => "2026-01-31T12:00:00Z",
        Some("date") => "2026-01-31",
        Some("time") => "12:00:00Z",
        Some("duration") => "PT1H",
        Some("email" | "idn-email") => "ada@example.com",
        Some("uri" | "iri" | "url") => "https://example.com/",
        Some("uri-reference" | "iri-reference") => "/",
        Some("uuid") => "7c9e6679-7425-40de-944b-e07fc1f90ae7",
        Some("hostname" | "idn-hostname") => "example.com",
        Some("ipv4") => "192.0.2.1",
        Some("ipv6") => "2001:db8::1",
        Some("json-pointer") => "/a",
        Some("regex") => "a",
        _ => "example",
    };
    let mut text = match (number, format) {
        (0, _) | (_, Some(_)) => text.to_owned(),
        (number, None) => format!("{number}{text}"),
    };
    let limit = |key: &str| map.get(key).and_then(Value::as_u64);
    let length = limit("minLength").unwrap_or(0).min(MAX_LENGTH);
    while (text.chars().count() as u64) < length {
        text.push('x');
    }
    match limit("maxLength").and_then(|longest| usize::try_from(longest).ok()) {
        Some(longest) => json!(text.chars().take(longest).collect::<String>()),
        None => json!(text),
    }
}

fn integer(map: &Map<String, Value>, number: u64) -> Value {
    let limit = |key: &str| map.get(key).and_then(Value::as_i64);
    let step = limit("multipleOf").filter(|step| *step > 0).unwrap_or(1);
    let number = i64::try_from(number).unwrap_or(0).saturating_mul(step);
    let above =
        limit("minimum").or_else(|| limit("exclusiveMinimum").map(|limit| limit.saturating_add(1)));
    let below =
        limit("maximum").or_else(|| limit("exclusiveMaximum").map(|limit| limit.saturating_sub(1)));
    let start = match (above, below) {
        (Some(above), _) => {
            let rest = above.rem_euclid(step);
            if rest == 0 {
                above
            } else {
                above.saturating_add(step - rest)
            }
        }
        (None, Some(below)) if below < step => below.saturating_sub(below.rem_euclid(step)),
        (None, _) => step,
    };
    let value = start.saturating_add(number);
    json!(
        below
            .filter(|below| value > *below)
            .map_or(value, |_| start)
    )
}

fn float(map: &Map<String, Value>, number: u64) -> Value {
    let limit = |key: &str| map.get(key).and_then(Value::as_f64);
    if let Some(step) = limit("multipleOf").filter(|step| *step > 0.0) {
        let from = limit("minimum").or_else(|| limit("exclusiveMinimum").map(|limit| limit + step));
        return json!((from.unwrap_or(step) / step).ceil() * step);
    }
    let above = limit("minimum").or_else(|| limit("exclusiveMinimum").map(|limit| limit + 0.5));
    let below = limit("maximum").or_else(|| limit("exclusiveMaximum").map(|limit| limit - 0.5));
    let value = match (above, below) {
        (Some(above), Some(below)) => f64::midpoint(above, below),
        (Some(above), None) => above,
        (None, Some(below)) => below.min(1.5),
        (None, None) => f64::from(u32::try_from(number).unwrap_or(0)) + 1.5,
    };
    json!(value)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{MAX_SIZE, of, size};

    #[test]
    fn examples_for_hostile_schemas_are_bounded() {
        let deep = (0..30).fold(
            json!({"type": "string", "minLength": 1_000}),
            |items, _| json!({"type": "array", "items": items, "minItems": 1_000}),
        );
        let branches: serde_json::Map<String, Value> = (0..40)
            .map(|level| {
                let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
                (
                    format!("d{level}"),
                    json!({"allOf": [next, next, next], "anyOf": [next]}),
                )
            })
            .collect();
        let long = "n".repeat(1 << 20);
        let names: Vec<String> = (0..100_000).map(|number| format!("n{number}")).collect();
        for (name, schema) in [
            ("arrays of arrays", deep),
            ("branches", json!({"$ref": "#/$defs/d0", "$defs": branches})),
            (
                "a long constant",
                json!({"type": "array", "items": {"const": long}, "minItems": 1_000}),
            ),
            (
                "recursion",
                json!({"type": "object", "required": ["a", "b"], "properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}}}),
            ),
            (
                "required names",
                json!({"type": "object", "required": names}),
            ),
            ("a reference to itself", json!({"$ref": "#"})),
        ] {
            let example = of(&schema);
            assert!(size(&example) <= 2 * MAX_SIZE, "{name}: {}", size(&example));
        }
    }

    #[test]
    fn parts_and_branches_are_merged() {
        let schema = json!({
            "type": "object",
            "properties": {"a": {"const": 1}},
            "allOf": [{"properties": {"b": {"type": "boolean"}}}],
            "oneOf": [{"required": ["c"], "properties": {"c": {"enum": ["x"]}}}],
        });
        assert_eq!(of(&schema), json!({"a": 1, "c": "x", "b": true}));
    }
}

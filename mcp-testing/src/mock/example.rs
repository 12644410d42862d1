//! Examples of JSON Schemas.

use serde_json::{Map, Value, json};

/// Maximum nesting depth of an example.
const MAX_DEPTH: usize = 32;
/// Deepest nesting of objects whose optional members are filled in.
const OPTIONAL_DEPTH: usize = 3;
/// Most items of an array, and most characters that a limit adds.
const MAX_LENGTH: u64 = 1_000;

/// Returns a value that matches a schema. `pattern`, `not` and conditions are not considered.
pub(super) fn of(schema: &Value) -> Value {
    Examples { root: schema }.value(schema, 0, 0)
}

struct Examples<'a> {
    root: &'a Value,
}

impl Examples<'_> {
    /// Returns an example. The number makes items of one array different.
    fn value(&self, schema: &Value, depth: usize, number: u64) -> Value {
        let Some(map) = schema.as_object().filter(|_| depth < MAX_DEPTH) else {
            return Value::Null;
        };
        let stated = ["const", "default"]
            .into_iter()
            .find_map(|key| map.get(key));
        let first = |key: &str| map.get(key).and_then(Value::as_array)?.first();
        if let Some(value) = stated
            .or_else(|| first("examples"))
            .or_else(|| first("enum"))
        {
            return value.clone();
        }
        if let Some(reference) = map.get("$ref").and_then(Value::as_str) {
            let target = reference
                .strip_prefix('#')
                .and_then(|pointer| self.root.pointer(pointer));
            return target.map_or(Value::Null, |target| self.value(target, depth + 1, number));
        }
        if let Some(parts) = map.get("allOf").and_then(Value::as_array) {
            return self.all(map, parts, depth, number);
        }
        for key in ["oneOf", "anyOf"] {
            if let Some(branch) = first(key) {
                return self.branch(map, key, branch, depth, number);
            }
        }
        self.of_type(map, depth, number)
    }

    /// Merges the examples of objects.
    fn all(&self, map: &Map<String, Value>, parts: &[Value], depth: usize, number: u64) -> Value {
        let mut own = map.clone();
        own.shift_remove("allOf");
        let parts = std::iter::once(Value::Object(own)).chain(parts.iter().cloned());
        let mut merged = Value::Null;
        for part in parts {
            let value = self.value(&part, depth + 1, number);
            match (&mut merged, value) {
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
        map: &Map<String, Value>,
        key: &str,
        branch: &Value,
        depth: usize,
        number: u64,
    ) -> Value {
        let mut around = map.clone();
        around.shift_remove(key);
        let mut branch = branch.clone();
        if let (Some(ty), Some(branch)) = (map.get("type"), branch.as_object_mut())
            && !branch.contains_key("$ref")
        {
            branch.entry("type").or_insert_with(|| ty.clone());
        }
        let value = self.value(&branch, depth + 1, number);
        match (self.value(&Value::Object(around), depth + 1, number), value) {
            (Value::Object(mut around), Value::Object(value)) => {
                around.extend(value);
                Value::Object(around)
            }
            (_, value) => value,
        }
    }

    fn of_type(&self, map: &Map<String, Value>, depth: usize, number: u64) -> Value {
        let name = match map.get("type") {
            Some(Value::Array(names)) => names.first().and_then(Value::as_str),
            Some(name) => name.as_str(),
            None if map.contains_key("properties") => Some("object"),
            None if map.contains_key("items") => Some("array"),
            None => None,
        };
        match name {
            Some("object") => self.object(map, depth),
            Some("array") => self.array(map, depth),
            Some("string") => string(map, number),
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
        let required: Vec<&str> = required
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let mut object = Map::new();
        for (key, schema) in properties {
            if required.contains(&key.as_str()) || depth < OPTIONAL_DEPTH {
                object.insert(key.clone(), self.value(schema, depth + 1, 0));
            }
        }
        for key in required {
            if !object.contains_key(key) {
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

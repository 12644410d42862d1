//! `allOf`, and keywords beside `$ref`, as one schema.

use serde_json::{Value, json};

use super::lowering::{Lowering, MAX_SCHEMAS, Schema};

/// Longest chain of references and nested `allOf`.
const MAX_CHAIN: usize = 32;

/// Keywords that decide the type. A schema without them adds only restrictions or texts.
const STRUCTURE: [&str; 13] = [
    "$ref",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "enum",
    "items",
    "oneOf",
    "patternProperties",
    "prefixItems",
    "properties",
    "required",
    "type",
];

/// Returns true if the schema decides a type.
pub(super) fn has_structure(map: &Schema) -> bool {
    STRUCTURE.iter().any(|key| map.contains_key(*key))
}

impl Lowering<'_> {
    /// Returns the schema without `$ref` and `allOf`, with the keywords of their schemas.
    pub(super) fn flatten(&mut self, map: &Schema, chain: usize) -> Result<Schema, String> {
        if chain > MAX_CHAIN {
            return Err("`$ref` and `allOf` refer to themselves".to_owned());
        }
        self.schemas += 1 + map.values().map(weight).sum::<usize>() / 16;
        if self.schemas > MAX_SCHEMAS {
            return Err(format!("the schema has more than {MAX_SCHEMAS} parts"));
        }
        let mut merged = map.clone();
        let reference = merged.shift_remove("$ref");
        let all = merged.shift_remove("allOf");
        let mut parts = Vec::new();
        if let Some(reference) = reference {
            let reference = reference.as_str().ok_or("`$ref` is a string")?.to_owned();
            parts.push(self.resolve(&reference)?.clone());
        }
        match all {
            Some(Value::Array(all)) => parts.extend(all),
            Some(_) => return Err("`allOf` is an array".to_owned()),
            None => {}
        }
        for part in parts {
            match part {
                Value::Bool(true) => {}
                Value::Object(part) => {
                    let part = self.flatten(&part, chain + 1)?;
                    merge(&mut merged, part)?;
                }
                _ => return Err("a part of `allOf` matches no value".to_owned()),
            }
        }
        Ok(merged)
    }
}

/// Returns the number of values in a schema: a copy's cost.
fn weight(value: &Value) -> usize {
    1 + match value {
        Value::Object(map) => map.values().map(weight).sum(),
        Value::Array(items) => items.iter().map(weight).sum(),
        _ => 0,
    }
}

/// Adds the keywords of `part`. Texts and restrictions in `into` win.
fn merge(into: &mut Schema, part: Schema) -> Result<(), String> {
    for (key, value) in part {
        let Some(old) = into.get_mut(&key) else {
            into.insert(key, value);
            continue;
        };
        if *old == value {
            continue;
        }
        match key.as_str() {
            "properties" => merge_properties(old, value)?,
            "required" => merge_required(old, value),
            "type" => merge_types(old, &value)?,
            "enum" => merge_enums(old, &value)?,
            "const" => return Err("`allOf` demands two different constants".to_owned()),
            "items" | "additionalProperties" => both(old, value),
            "anyOf" | "oneOf" | "prefixItems" | "patternProperties" => {
                return Err(format!("`allOf` combines two `{key}`"));
            }
            _ => {}
        }
    }
    Ok(())
}

fn merge_properties(old: &mut Value, new: Value) -> Result<(), String> {
    let (Some(old), Value::Object(new)) = (old.as_object_mut(), new) else {
        return Err("`properties` is an object".to_owned());
    };
    for (key, schema) in new {
        match old.get_mut(&key) {
            None => {
                old.insert(key, schema);
            }
            Some(existing) if *existing == schema => {}
            Some(existing) => both(existing, schema),
        }
    }
    Ok(())
}

/// Combines two schemas of the same value.
fn both(old: &mut Value, new: Value) {
    let is_any = |schema: &Value| match schema {
        Value::Bool(any) => *any,
        Value::Object(map) => map.is_empty(),
        _ => false,
    };
    if is_any(&new) {
        return;
    }
    if is_any(old) {
        *old = new;
        return;
    }
    let first = old.take();
    *old = if first == Value::Bool(false) || new == Value::Bool(false) {
        Value::Bool(false)
    } else {
        json!({ "allOf": [first, new] })
    };
}

fn merge_required(old: &mut Value, new: Value) {
    if let (Value::Array(old), Value::Array(new)) = (old, new) {
        for name in new {
            if !old.contains(&name) {
                old.push(name);
            }
        }
    }
}

fn merge_types(old: &mut Value, new: &Value) -> Result<(), String> {
    let list = |names: &Value| match names {
        Value::Array(names) => names.clone(),
        name => vec![name.clone()],
    };
    let (first, second) = (list(old), list(new));
    let mut common: Vec<Value> = Vec::new();
    for name in &first {
        if second.contains(name) || (name == "integer" && second.contains(&json!("number"))) {
            common.push(name.clone());
        } else if name == "number" && second.contains(&json!("integer")) {
            common.push(json!("integer"));
        }
    }
    *old = match common.len() {
        0 => return Err("`allOf` demands two different types".to_owned()),
        1 => common.remove(0),
        _ => Value::Array(common),
    };
    Ok(())
}

fn merge_enums(old: &mut Value, new: &Value) -> Result<(), String> {
    let (Value::Array(old), Value::Array(new)) = (old, new) else {
        return Err("`enum` must be an array".to_owned());
    };
    old.retain(|value| new.contains(value));
    if old.is_empty() {
        Err("`allOf` demands two different enums".to_owned())
    } else {
        Ok(())
    }
}

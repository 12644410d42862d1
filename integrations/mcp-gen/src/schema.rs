//! JSON Schema (2020-12, and the keywords of draft 7 that tools use) as Rust types.
//!
//! A keyword that only restricts values, such as `pattern`, `minimum` or `not`, does not change the type.
//! A schema without a Rust type becomes [`Type::Value`] with a reason.
//!
//! | module | contents, lowest first |
//! |---|---|
//! | `place` | where a schema is, and the name of its type |
//! | `lowering` | the state of a conversion |
//! | `merge` | `allOf` as one schema |
//! | `reference` | `$ref` |
//! | `choice` | `enum` and `const` |
//! | `object` | objects |
//! | `union` | `anyOf`, `oneOf` and lists of types |
//! | `array` | arrays |

mod array;
mod choice;
mod lowering;
mod merge;
mod object;
mod place;
mod reference;
mod union;

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::names::type_name;
use crate::report::Note;
use crate::types::{Table, Type};
use lowering::{Lowering, MAX_SCHEMAS, Schema};
use place::Place;

/// Deepest nesting of schemas, through references.
const MAX_DEPTH: usize = 48;
/// Largest schema as JSON: 1 MiB.
const MAX_BYTES: usize = 1 << 20;

/// Converts a tool's schema at `path`. `name` names the type, if it needs a name.
pub(crate) fn lower(root: &Value, name: &str, path: &str, types: &mut Table) -> (Type, Vec<Note>) {
    let mut lowering = Lowering {
        root,
        types,
        targets: HashMap::new(),
        schemas: 0,
        notes: Vec::new(),
    };
    let title = root.get("title").and_then(Value::as_str);
    let label = title.map(|title| type_name(title, name));
    let place = Place::root(name, label, path);
    let size = root.to_string().len();
    let ty = if size > MAX_BYTES {
        lowering.any(
            &place,
            format!("the schema has {size} bytes, more than 1 MiB"),
        )
    } else {
        lowering.target("#", root, place)
    };
    (ty, lowering.notes)
}

/// Returns true if the schema allows no member, as for a tool without arguments.
pub(crate) fn is_empty_object(schema: &Value) -> bool {
    let Some(map) = schema.as_object() else {
        return false;
    };
    map.iter().all(|(key, value)| match key.as_str() {
        "properties" | "patternProperties" => value.as_object().is_some_and(Map::is_empty),
        "required" => value.as_array().is_some_and(Vec::is_empty),
        "additionalProperties" => value == &Value::Bool(false),
        "type" => value == "object",
        "$schema" | "title" | "description" | "$id" | "$comment" | "$defs" | "definitions" => true,
        _ => false,
    })
}

impl Lowering<'_> {
    fn lower(&mut self, schema: &Value, place: Place) -> Type {
        self.schemas += 1;
        if self.schemas > MAX_SCHEMAS {
            return self.any(
                &place,
                format!("the schema has more than {MAX_SCHEMAS} parts"),
            );
        }
        if place.depth > MAX_DEPTH {
            return self.any(
                &place,
                format!("the schema is nested deeper than {MAX_DEPTH}"),
            );
        }
        match schema {
            Value::Bool(true) => Type::Value(None),
            Value::Bool(false) => self.any(&place, "no value matches the schema `false`"),
            Value::Object(map) => self.lower_map(map, place),
            _ => self.any(&place, "a schema is an object or a boolean"),
        }
    }

    fn lower_map(&mut self, map: &Schema, place: Place) -> Type {
        if let Some(key) = ["$dynamicRef", "$recursiveRef"]
            .iter()
            .find(|key| map.contains_key(**key))
        {
            return self.any(
                &place,
                format!("`{key}` depends on the schema that refers to it"),
            );
        }
        if map.contains_key("$ref") || map.contains_key("allOf") {
            return self.combined(map, place);
        }
        if map.contains_key("enum") || map.contains_key("const") {
            return self.choice(map, place);
        }
        if let Some(branches) = union::branches(map) {
            return self.union(map, &branches, place);
        }
        if map.contains_key("anyOf") || map.contains_key("oneOf") {
            return self.any(
                &place,
                "`anyOf` and `oneOf` are arrays, and only one of them has a type",
            );
        }
        match map.get("type") {
            Some(Value::String(name)) => self.of_type(name, map, place),
            Some(Value::Array(names)) => self.of_types(names, map, place),
            Some(_) => self.any(&place, "`type` is a string or an array"),
            None => self.without_type(map, place),
        }
    }

    fn of_type(&mut self, name: &str, map: &Schema, place: Place) -> Type {
        match name {
            "null" => Type::Null,
            "boolean" => Type::Bool,
            "integer" => integer(map),
            "number" => Type::Number,
            "string" => Type::Text,
            "array" => self.array(map, place),
            "object" => self.object(map, place),
            other => {
                let other: String = other.chars().take(50).collect();
                self.any(&place, format!("JSON has no type `{other}`"))
            }
        }
    }

    /// A schema without `type` restricts the values of one type only. Tools mean that type.
    fn without_type(&mut self, map: &Schema, place: Place) -> Type {
        let has = |keys: &[&str]| keys.iter().any(|key| map.contains_key(*key));
        if has(&[
            "properties",
            "additionalProperties",
            "patternProperties",
            "required",
        ]) {
            return self.object(map, place);
        }
        if has(&["items", "prefixItems"]) {
            return self.array(map, place);
        }
        Type::Value(None)
    }
}

fn integer(map: &Schema) -> Type {
    let minimum = map.get("minimum").or_else(|| map.get("exclusiveMinimum"));
    match minimum.and_then(Value::as_f64) {
        Some(minimum) if minimum >= 0.0 => Type::Unsigned,
        _ => Type::Integer,
    }
}

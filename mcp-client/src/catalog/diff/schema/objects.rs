//! Properties, and the keywords of objects and arrays.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::recorder::{join, pairs};
use super::comparison::{Comparison, Delta, Direction};
use super::view::Keywords;

pub(super) const KEYWORDS: [&str; 12] = [
    "properties",
    "required",
    "patternProperties",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "items",
    "prefixItems",
    "unevaluatedItems",
    "contains",
    "uniqueItems",
    "allOf",
];

/// Keywords with one schema, which is `true` when it is missing.
const SUBSCHEMAS: [&str; 6] = [
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "items",
    "unevaluatedItems",
    "contains",
];

impl Comparison<'_> {
    pub(super) fn objects(&mut self, old: &Keywords, new: &Keywords, path: &str) {
        self.required(old, new, path);
        self.properties(old, new, path);
        self.patterns(old, new, path);
        for name in SUBSCHEMAS {
            self.subschema(name, old.get(name), new.get(name), path);
        }
        for name in ["prefixItems", "allOf"] {
            self.list(name, old.get(name), new.get(name), path);
        }
        let is_unique = |of: &Keywords| of.get("uniqueItems") == Some(&Value::Bool(true));
        match (is_unique(old), is_unique(new)) {
            (false, true) => {
                self.add(
                    Delta::Narrower,
                    &join(path, "uniqueItems"),
                    "items must be unique",
                );
            }
            (true, false) => {
                self.add(Delta::Wider, &join(path, "uniqueItems"), "items may repeat");
            }
            _ => {}
        }
    }

    fn required(&mut self, old: &Keywords, new: &Keywords, path: &str) {
        let (was, is) = (required(old), required(new));
        let path = join(path, "required");
        for name in is.difference(&was) {
            self.add(Delta::Narrower, &path, format!("{name:?} became required"));
        }
        for name in was.difference(&is) {
            let reason = format!("{name:?} is no longer required");
            self.add(Delta::Wider, &path, reason);
        }
    }

    fn properties(&mut self, old: &Keywords, new: &Keywords, path: &str) {
        let name = "properties";
        let path = join(path, name);
        for (_, path, was, is) in pairs(members(old, name), members(new, name), &path) {
            let (delta, reason) = match (was, is, self.direction) {
                (Some(was), Some(is), _) => {
                    self.schema(was, is, &path);
                    continue;
                }
                // Clients that ignore unknown properties read results of an open schema as before.
                (None, ..) if is_open(old) => (Delta::Compatible, "property added"),
                (None, ..) => (Delta::Wider, "property added"),
                // A result that loses a required property differs in `required`.
                (_, None, Direction::Output) => (Delta::Compatible, "property removed"),
                (_, None, _) if is_open(new) => (Delta::Unknown, "property removed"),
                (_, None, _) => (Delta::Narrower, "property removed"),
            };
            self.add(delta, &path, reason);
        }
    }

    fn patterns(&mut self, old: &Keywords, new: &Keywords, path: &str) {
        let name = "patternProperties";
        let path = join(path, name);
        for (_, path, was, is) in pairs(members(old, name), members(new, name), &path) {
            match (was, is) {
                (Some(was), Some(is)) => self.schema(was, is, &path),
                (None, _) if is_open(old) => self.add(Delta::Narrower, &path, "added"),
                (_, None) if is_open(new) => self.add(Delta::Wider, &path, "removed"),
                (None, _) => self.add(Delta::Wider, &path, "added"),
                (_, None) => self.add(Delta::Narrower, &path, "removed"),
            }
        }
    }

    fn subschema(&mut self, name: &str, old: Option<&Value>, new: Option<&Value>, path: &str) {
        let path = join(path, name);
        match (old, new) {
            (None, None) => {}
            (Some(was), Some(is)) => self.schema(was, is, &path),
            (None, Some(is)) if is_true(is) => {}
            (Some(was), None) if is_true(was) => {}
            (None, Some(_)) => self.add(Delta::Narrower, &path, "added"),
            (Some(_), None) => self.add(Delta::Wider, &path, "removed"),
        }
    }

    /// Compares lists of schemas that all apply.
    fn list(&mut self, name: &str, old: Option<&Value>, new: Option<&Value>, path: &str) {
        let schemas = |of: Option<&Value>| match of {
            Some(Value::Array(schemas)) => schemas.clone(),
            _ => Vec::new(),
        };
        let (was, is) = (schemas(old), schemas(new));
        let path = join(path, name);
        for index in 0..was.len().max(is.len()) {
            let path = join(&path, &index.to_string());
            match (was.get(index), is.get(index)) {
                (Some(was), Some(is)) => self.schema(was, is, &path),
                (None, _) => self.add(Delta::Narrower, &path, "added"),
                (_, None) => self.add(Delta::Wider, &path, "removed"),
            }
        }
    }
}

/// Returns the members of a keyword's object.
fn members<'a>(schema: &'a Keywords, name: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    let members = schema.get(name).and_then(Value::as_object);
    members.into_iter().flatten()
}

/// Returns true if the schema accepts properties that it does not list.
fn is_open(schema: &Keywords) -> bool {
    let closes = |name: &str| schema.get(name) == Some(&Value::Bool(false));
    !closes("additionalProperties") && !closes("unevaluatedProperties")
}

fn is_true(schema: &Value) -> bool {
    match schema {
        Value::Bool(value) => *value,
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

fn required(schema: &Keywords) -> BTreeSet<&str> {
    let names = schema.get("required").and_then(Value::as_array);
    let names = names.into_iter().flatten();
    names.filter_map(Value::as_str).collect()
}

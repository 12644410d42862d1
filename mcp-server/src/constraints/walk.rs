//! The schemas that apply to a value, and the limits within which all walkers follow them.

use std::cell::Cell;

use mcp_core::schema::target;
use mcp_types::JsonObject;
use serde_json::Value;

/// Limit on the schemas that apply to the same value, in a row.
pub(super) const MAX_HOPS: usize = 16;

/// Limit on a walk's steps: one per value and schema, and more for long strings, patterns and
/// `uniqueItems`. A step takes about 50 ns, so that a walk occupies its worker for 0.1 s at most.
pub(super) const MAX_STEPS: usize = 2_000_000;

/// Keywords whose schemas apply to the same value.
pub(crate) const PARTS: &[&str] = &["allOf", "anyOf", "oneOf"];

/// A walk through the argument values and the schemas that apply to them.
pub(crate) struct Walk<'a> {
    root: &'a JsonObject,
    remaining_steps: Cell<usize>,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(root: &'a JsonObject) -> Self {
        Self {
            root,
            remaining_steps: Cell::new(MAX_STEPS),
        }
    }

    /// Subtracts a step. Returns false beyond the limits.
    pub(crate) fn step(&self, hops: usize) -> bool {
        let remaining = self.remaining_steps.get().saturating_sub(1);
        self.remaining_steps.set(remaining);
        hops <= MAX_HOPS && remaining > 0
    }

    /// Returns whether a value counts as absent: `null` for an optional property that does not list it, and an
    /// empty text where text is none of the types, which numbers, choices and formats are not.
    pub(crate) fn is_blank(&self, value: &Value, schema: &'a Value, is_required: bool) -> bool {
        match value {
            Value::Null => !is_required && !self.types(schema).contains(&"null"),
            Value::String(text) if text.is_empty() => {
                let schema = schema.as_object();
                schema.is_some_and(|schema| !self.takes_empty_text(schema, 0))
            }
            _ => false,
        }
    }

    /// Returns the JSON types that a schema names; none if it does not restrict the type.
    pub(crate) fn types(&self, schema: &'a Value) -> Vec<&'a str> {
        let mut types = Vec::new();
        if let Some(schema) = schema.as_object() {
            self.collect_types(schema, &mut types, 0);
        }
        types
    }

    fn collect_types(&self, schema: &'a JsonObject, types: &mut Vec<&'a str>, hops: usize) {
        if !self.step(hops) {
            return;
        }
        types.extend(names(schema, "type"));
        let listed = listed_values(schema).into_iter().flatten();
        types.extend(listed.filter(|value| value.is_string()).map(|_| "string"));
        for part in self.parts(schema, PARTS) {
            self.collect_types(part, types, hops + 1);
        }
    }

    fn takes_empty_text(&self, schema: &'a JsonObject, hops: usize) -> bool {
        if !self.step(hops) {
            return true;
        }
        if let Some(listed) = listed_values(schema) {
            return listed.contains(&"".into());
        }
        if schema.contains_key("type") {
            let is_text = names(schema, "type").any(|name| name == "string");
            return is_text && !schema.contains_key("format");
        }
        let mut parts = self.parts(schema, PARTS).peekable();
        parts.peek().is_none() || parts.any(|part| self.takes_empty_text(part, hops + 1))
    }

    /// Returns the schemas that apply to the same value: those of keywords such as `allOf`, and the
    /// target of `$ref`.
    pub(crate) fn parts(
        &self,
        schema: &'a JsonObject,
        keywords: &'static [&'static str],
    ) -> impl Iterator<Item = &'a JsonObject> + use<'a> {
        let reference = schema.get("$ref").and_then(Value::as_str);
        let target = reference.and_then(|reference| target(self.root, reference));
        let lists = keywords
            .iter()
            .filter_map(|keyword| schema.get(*keyword)?.as_array());
        lists.flatten().filter_map(Value::as_object).chain(target)
    }
}

/// Returns the schema of an array's element.
pub(crate) fn element(schema: &JsonObject, index: usize) -> Option<&Value> {
    let own = schema
        .get("prefixItems")
        .and_then(|prefix| prefix.get(index));
    own.or_else(|| schema.get("items"))
}

/// Returns the strings of a keyword whose value is a string or a list of strings.
pub(crate) fn names<'s>(schema: &'s JsonObject, keyword: &str) -> impl Iterator<Item = &'s str> {
    let names = match schema.get(keyword) {
        Some(Value::Array(names)) => names,
        Some(name) => std::slice::from_ref(name),
        None => &[],
    };
    names.iter().filter_map(Value::as_str)
}

/// Returns the values of `enum`, or the one of `const`.
pub(crate) fn listed_values(schema: &JsonObject) -> Option<&[Value]> {
    match schema.get("enum") {
        Some(Value::Array(values)) => Some(values),
        _ => schema.get("const").map(std::slice::from_ref),
    }
}

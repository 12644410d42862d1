//! Types for `enum` and `const`.

use serde_json::Value;

use super::lowering::{Lowering, Schema};
use super::place::Place;
use crate::names::{Names, variant_name};
use crate::types::{Shape, Type};

/// Maximum number of variants. A string with more values stays a `String`.
const MAX_VALUES: usize = 1_000;

impl Lowering<'_> {
    /// Returns the type for the values of `const` or `enum`. `null` makes it optional.
    pub(super) fn choice(&mut self, map: &Schema, place: Place) -> Type {
        let values = match (map.get("const"), map.get("enum")) {
            (Some(value), _) => vec![value.clone()],
            (None, Some(Value::Array(values))) => values.clone(),
            _ => return self.any(&place, "`enum` must be an array"),
        };
        let (nulls, values): (Vec<_>, Vec<_>) = values.into_iter().partition(Value::is_null);
        if nulls.is_empty() {
            self.values(map, &values, place)
        } else if values.is_empty() {
            Type::Null
        } else {
            self.values(map, &values, place.inner()).optional()
        }
    }

    fn values(&mut self, map: &Schema, values: &[Value], place: Place) -> Type {
        if values.is_empty() {
            return self.any(&place, "`enum` has no values");
        }
        if values.iter().all(Value::is_string) {
            let strings: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
            return self.strings(map, &strings, &place);
        }
        if values.iter().all(Value::is_boolean) {
            return Type::Bool;
        }
        if values.iter().all(Value::is_u64) {
            return Type::Unsigned;
        }
        if values.iter().all(Value::is_i64) {
            return Type::Integer;
        }
        if values.iter().all(Value::is_number) {
            return Type::Number;
        }
        let is_compound = |value: &Value| value.is_object() || value.is_array();
        if values.iter().all(is_compound) {
            return self.any(&place, "a constant object or array has no Rust type");
        }
        self.any(&place, "the values of `enum` have different types")
    }

    /// Defines an enum whose variants are the distinct strings.
    pub(super) fn strings(&mut self, map: &Schema, values: &[&str], place: &Place) -> Type {
        if values.len() > MAX_VALUES {
            return Type::Text;
        }
        let mut names = Names::default();
        let mut variants: Vec<(String, String)> = Vec::new();
        for value in values {
            if variants.iter().any(|(_, known)| known == value) {
                continue;
            }
            let fallback = if value.is_empty() { "Empty" } else { "Value" };
            let name = names.take(&variant_name(value, fallback));
            variants.push((name, (*value).to_owned()));
        }
        self.define(place, map, Shape::Choice(variants))
    }
}

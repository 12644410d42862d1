//! `enum` and `const`.

use serde_json::Value;

use super::lowering::{Lowering, Schema};
use super::place::Place;
use crate::names::{Names, type_name};
use crate::types::{Shape, Type};

/// Most values of a string enum.
const MAX_VALUES: usize = 1_000;

impl Lowering<'_> {
    pub(super) fn choice(&mut self, map: &Schema, place: Place) -> Type {
        let values = match (map.get("const"), map.get("enum")) {
            (Some(value), _) => vec![value.clone()],
            (None, Some(Value::Array(values))) => values.clone(),
            _ => return self.any(&place, "`enum` is an array"),
        };
        let is_null = values.iter().any(Value::is_null);
        let values: Vec<Value> = values
            .into_iter()
            .filter(|value| !value.is_null())
            .collect();
        match is_null {
            true if values.is_empty() => Type::Null,
            true => self.values(map, &values, place.inner()).optional(),
            false => self.values(map, &values, place),
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
        if let ([Value::Object(_)], None) = (values, map.get("type")) {
            return self.any(&place, "a constant object has no type");
        }
        self.any(&place, "the values of `enum` have different types")
    }

    /// Defines a string enum.
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
            let name = match type_name(value, fallback).as_str() {
                "Self" => "SelfValue".to_owned(),
                name => name.to_owned(),
            };
            variants.push((names.take(&name), (*value).to_owned()));
        }
        self.define(place, map, Shape::Choice(variants))
    }
}

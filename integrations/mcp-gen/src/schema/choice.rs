//! Types for `enum` and `const`.

use mcp_schema::Parts;
use serde_json::Value;

use super::lowering::{Lowering, Reason, texts};
use super::place::Place;
use crate::names::{Names, variant_name};
use crate::types::{Shape, Type};

/// Maximum number of variants. A string with more values stays a `String`.
const MAX_VALUES: usize = 1_000;

impl Lowering<'_> {
    /// Returns the type for the values of `const` or `enum`. `null` makes it optional.
    pub(super) fn choice(
        &mut self,
        parts: &Parts<'_>,
        mut values: Vec<&Value>,
        place: &Place,
    ) -> Result<Type, Reason> {
        let count = values.len();
        values.retain(|value| !value.is_null());
        if values.is_empty() && count > 0 {
            return Ok(Type::Null);
        }
        self.optional(values.len() < count, place, |this, place| {
            let all = |is: fn(&Value) -> bool| values.iter().all(|value| is(value));
            if values.is_empty() {
                Err("`enum` has no values".into())
            } else if all(Value::is_string) {
                let strings: Vec<_> = values.iter().filter_map(|value| value.as_str()).collect();
                Ok(this.strings(parts, &strings, place))
            } else if all(Value::is_boolean) {
                Ok(Type::Bool)
            } else if all(Value::is_u64) {
                Ok(Type::Unsigned)
            } else if all(Value::is_i64) {
                Ok(Type::Integer)
            } else if all(Value::is_number) {
                Ok(Type::Number)
            } else if all(|value| value.is_object() || value.is_array()) {
                Err("a constant object or array has no Rust type".into())
            } else {
                Err("the values of `enum` have different types".into())
            }
        })
    }

    /// Defines an enum whose variants are the distinct strings.
    pub(super) fn strings(&mut self, parts: &Parts<'_>, values: &[&str], place: &Place) -> Type {
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
        self.define(place, texts(parts), Shape::Choice(variants))
    }
}

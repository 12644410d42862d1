//! Keywords that limit a single value: types, enums, bounds, patterns.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::recorder::{brief, join};
use super::comparison::{Comparison, Delta};
use super::view::Keywords;

pub(super) const KEYWORDS: [&str; 18] = [
    "type",
    "enum",
    "const",
    "minimum",
    "exclusiveMinimum",
    "minLength",
    "minItems",
    "minProperties",
    "minContains",
    "maximum",
    "exclusiveMaximum",
    "maxLength",
    "maxItems",
    "maxProperties",
    "maxContains",
    "multipleOf",
    "pattern",
    "format",
];

/// The types of JSON Schema. `integer` is a part of `number`.
const TYPES: [&str; 7] = [
    "null", "boolean", "object", "array", "number", "string", "integer",
];

impl Comparison<'_> {
    pub(super) fn values(&mut self, old: &Keywords, new: &Keywords, path: &str) {
        self.types(old, new, path);
        self.enums(old, new, path);
        for name in KEYWORDS {
            let bound = match name {
                name if name.starts_with("min") || name.ends_with("Minimum") => Bound::Lower,
                "multipleOf" => Bound::Multiple,
                name if name.starts_with("max") || name.ends_with("Maximum") => Bound::Upper,
                "pattern" | "format" => Bound::Opaque,
                _ => continue,
            };
            self.bound(name, bound, old.get(name), new.get(name), path);
        }
    }

    fn types(&mut self, old: &Keywords, new: &Keywords, path: &str) {
        let (was, is) = (types(old), types(new));
        let lost = was.difference(&is).next().is_some();
        let gained = is.difference(&was).next().is_some();
        let delta = match (lost, gained) {
            (false, false) => return,
            (true, false) => Delta::Narrower,
            (false, true) => Delta::Wider,
            (true, true) => Delta::Unknown,
        };
        let text = |of: &Keywords| of.get("type").map_or_else(|| "any type".to_owned(), brief);
        let reason = format!("{} became {}", text(old), text(new));
        self.add(delta, &join(path, "type"), reason);
    }

    fn enums(&mut self, old: &Keywords, new: &Keywords, path: &str) {
        let (was, is) = (allowed(old), allowed(new));
        let name = |of: &Keywords| {
            if of.contains_key("const") {
                "const"
            } else {
                "enum"
            }
        };
        match (was, is) {
            (None, None) => {}
            (None, Some(_)) => {
                self.add(
                    Delta::Narrower,
                    &join(path, name(new)),
                    "values are now listed",
                );
            }
            (Some(_), None) => {
                self.add(
                    Delta::Wider,
                    &join(path, name(old)),
                    "all values are allowed",
                );
            }
            (Some(was), Some(is)) => {
                let path = join(path, name(new));
                for value in was.iter().filter(|value| !is.contains(value)) {
                    let reason = format!("value {} removed", brief(value));
                    self.add(Delta::Narrower, &path, reason);
                }
                for value in is.iter().filter(|value| !was.contains(value)) {
                    self.add(Delta::Wider, &path, format!("value {} added", brief(value)));
                }
            }
        }
    }

    fn bound(
        &mut self,
        name: &str,
        bound: Bound,
        old: Option<&Value>,
        new: Option<&Value>,
        path: &str,
    ) {
        let path = join(path, name);
        match (old, new) {
            (None, Some(is)) => {
                self.add(Delta::Narrower, &path, format!("added: {}", brief(is)));
            }
            (Some(_), None) => self.add(Delta::Wider, &path, "removed"),
            (Some(was), Some(is)) if was != is => {
                let delta = bound.delta(was, is);
                if let Some(delta) = delta {
                    let reason = format!("{} became {}", brief(was), brief(is));
                    self.add(delta, &path, reason);
                }
            }
            _ => {}
        }
    }
}

/// The kind of a limit.
#[derive(Debug, Clone, Copy)]
enum Bound {
    Lower,
    Upper,
    Multiple,
    Opaque,
}

impl Bound {
    /// Compares two different limits. `None` when they are the same number.
    fn delta(self, old: &Value, new: &Value) -> Option<Delta> {
        let (Some(was), Some(is)) = (old.as_f64(), new.as_f64()) else {
            return Some(Delta::Unknown);
        };
        if was.total_cmp(&is).is_eq() {
            return None;
        }
        Some(match self {
            Self::Lower if is > was => Delta::Narrower,
            Self::Upper if is < was => Delta::Narrower,
            Self::Lower | Self::Upper => Delta::Wider,
            Self::Multiple if is_multiple(is, was) => Delta::Narrower,
            Self::Multiple if is_multiple(was, is) => Delta::Wider,
            Self::Multiple | Self::Opaque => Delta::Unknown,
        })
    }
}

fn is_multiple(value: f64, of: f64) -> bool {
    of != 0.0 && (value / of).fract() == 0.0
}

/// Returns the accepted types, with `integer` in each set that has `number`.
fn types(schema: &Keywords) -> BTreeSet<&str> {
    let mut types: BTreeSet<_> = match schema.get("type") {
        Some(Value::String(name)) => [name.as_str()].into(),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => match allowed(schema) {
            Some(values) => values.into_iter().map(type_of).collect(),
            None => TYPES.into(),
        },
    };
    if types.contains("number") {
        types.insert("integer");
    }
    types
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Object(_) => "object",
        Value::Array(_) => "array",
        Value::String(_) => "string",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
    }
}

/// Returns the listed values.
fn allowed(schema: &Keywords) -> Option<Vec<&Value>> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(value), _) => Some(vec![value]),
        (None, Some(Value::Array(values))) => Some(values.iter().collect()),
        _ => None,
    }
}

//! Keywords that limit a single value: types, enums, bounds, patterns.

use std::collections::{BTreeSet, HashSet};

use mcp_schema::{Keywords, Type};
use serde_json::Value;

use super::super::recorder::{brief, join};
use super::comparison::{Comparison, Delta};
use super::view::View;

/// The types of JSON Schema. `integer` is a part of `number`.
const TYPES: [&str; 7] = [
    "null", "boolean", "object", "array", "number", "string", "integer",
];

/// The older and the newer value of a keyword.
type Change<'v> = (Option<&'v Value>, Option<&'v Value>);

impl Comparison {
    pub(super) fn types(&mut self, old: &View<'_>, new: &View<'_>, path: &str) {
        let (was, is) = (types(old), types(new));
        let delta = match (was.is_subset(&is), is.is_subset(&was)) {
            (true, true) => return,
            (false, true) => Delta::Narrower,
            (true, false) => Delta::Wider,
            (false, false) => Delta::Unknown,
        };
        let text = |of: &View<'_>| {
            let text = of.get("type").map_or_else(|| "any type".to_owned(), brief);
            let or_null = if of.flag("nullable") { " or null" } else { "" };
            text + or_null
        };
        self.add(delta, path, format!("{} became {}", text(old), text(new)));
    }

    pub(super) fn enums(&mut self, old: &View<'_>, new: &View<'_>, path: &str) {
        let path = |of: &View<'_>| {
            let is_const = of.get("enum").is_none();
            join(path, if is_const { "const" } else { "enum" })
        };
        match (old.listed(), new.listed()) {
            (None, None) => {}
            (None, Some(_)) => self.add(Delta::Narrower, &path(new), "values are now listed"),
            (Some(_), None) => self.add(Delta::Wider, &path(old), "all values are allowed"),
            (Some(was), Some(is)) => {
                let path = path(new);
                let [old, new] = [was, is].map(HashSet::<&Value>::from_iter);
                for value in was.iter().filter(|value| !new.contains(value)) {
                    let reason = format!("value {} removed", brief(value));
                    self.add(Delta::Narrower, &path, reason);
                }
                for value in is.iter().filter(|value| !old.contains(value)) {
                    self.add(Delta::Wider, &path, format!("value {} added", brief(value)));
                }
            }
        }
    }

    /// Compares a limit. `narrows` says whether the second number allows fewer values than the first one.
    pub(super) fn bound(&mut self, change: Change<'_>, path: &str, narrows: fn(f64, f64) -> bool) {
        let (old, new) = change;
        let numbers = || old?.as_f64().zip(new?.as_f64());
        let delta = match (old, new, numbers()) {
            _ if old == new => return,
            (None, ..) => Delta::Narrower,
            (_, None, _) => Delta::Wider,
            (.., Some((was, is))) if was.total_cmp(&is).is_eq() => return,
            (.., Some((was, is))) if narrows(was, is) => Delta::Narrower,
            (.., Some((was, is))) if narrows(is, was) => Delta::Wider,
            _ => Delta::Unknown,
        };
        self.add(delta, path, text(change));
    }

    /// Compares a keyword that changes no set of values.
    pub(super) fn annotation(&mut self, keyword: &str, change: Change<'_>, path: &str) {
        let (delta, reason) = match change {
            (old, new) if old == new => return,
            _ if keyword == "default" => (Delta::Compatible, text(change)),
            (None, _) => (Delta::Annotation, "added".to_owned()),
            (_, None) => (Delta::Annotation, "removed".to_owned()),
            _ => (Delta::Annotation, "changed".to_owned()),
        };
        self.add(delta, path, reason);
    }
}

fn text(change: Change<'_>) -> String {
    match change {
        (None, Some(is)) => format!("added: {}", brief(is)),
        (Some(was), Some(is)) => format!("{} became {}", brief(was), brief(is)),
        _ => "removed".to_owned(),
    }
}

/// Returns for a limit whether a second number allows fewer values than the first one. `None`: the keyword is not a limit.
pub(super) fn narrowing(keyword: &str) -> Option<fn(f64, f64) -> bool> {
    Some(match keyword {
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties"
        | "minContains" => |was, is| is > was,
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties"
        | "maxContains" => |was, is| is < was,
        "multipleOf" => is_multiple,
        "pattern" | "format" => |_, _| false,
        _ => return None,
    })
}

/// Returns true if all values within the limit `near` are within `far`.
pub(super) fn implies(near: Option<&Value>, far: &Value, narrows: fn(f64, f64) -> bool) -> bool {
    let numbers = near.and_then(Value::as_f64).zip(far.as_f64());
    near == Some(far) || numbers.is_some_and(|(near, far)| narrows(far, near))
}

fn is_multiple(of: f64, value: f64) -> bool {
    of != 0.0 && (value / of).fract() == 0.0
}

/// Returns the accepted types, with `integer` in each set that has `number`. An unknown name is a type of its own.
fn types<'s>(schema: &View<'s>) -> BTreeSet<&'s str> {
    let known = schema.types();
    let mut types: BTreeSet<&str> = match (schema.get("type"), schema.listed()) {
        _ if !known.is_empty() => known.into_iter().map(Type::as_str).collect(),
        (Some(Value::String(name)), _) if !name.eq_ignore_ascii_case("any") => [&**name].into(),
        (None, Some(all)) => all.iter().map(|one| Type::of(one).as_str()).collect(),
        _ => TYPES.into(),
    };
    if types.contains("number") {
        types.insert("integer");
    }
    types
}

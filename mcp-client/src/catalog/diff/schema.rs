//! Differences of two JSON Schemas.
//!
//! Each keyword says whether the newer schema accepts more values or fewer. The direction turns that
//! into an impact: arguments may be accepted more widely, results may be promised more narrowly.
//!
//! | module | contents, lowest first |
//! |---|---|
//! | `comparison` | a comparison's state, and the changes that it finds |
//! | `view` | a schema with its references resolved |
//! | `values` | keywords that limit a single value |
//! | `objects` | properties, and the keywords of objects and arrays |
//! | `alternatives` | `anyOf`, `oneOf` |

mod alternatives;
mod comparison;
mod objects;
mod values;
mod view;

use serde_json::Value;

use super::recorder::{Recorder, brief, pairs};
use crate::catalog::difference::Impact;
use comparison::{ANNOTATIONS, Comparison, DEFINITIONS, Delta};
use view::View;

pub(super) use comparison::Direction;

/// Largest number of compared schema pairs.
const MAX_STEPS: u32 = 10_000;
/// Greatest depth of compared schemas.
const MAX_DEPTH: u32 = 64;
/// Longest path in bytes.
const MAX_PATH: usize = 16_384;

/// Keywords whose change cannot be decided. An equal value is not a difference.
const OPAQUE: [&str; 10] = [
    "$dynamicRef",
    "$recursiveRef",
    "contentSchema",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "if",
    "not",
    "then",
];

pub(super) fn compare_schemas(
    old: &Value,
    new: &Value,
    direction: Direction,
    path: &str,
    recorder: &mut Recorder,
) {
    // Equal documents resolve references equally.
    if old == new {
        return;
    }
    let definitions = |of: &Value| DEFINITIONS.map(|name| of.get(name).cloned());
    let mut comparison = Comparison {
        has_same_definitions: definitions(old) == definitions(new),
        roots: (old, new),
        direction,
        found: Vec::new(),
        running: Vec::new(),
        steps: 0,
        depth: 0,
    };
    comparison.schema(old, new, path);
    for (delta, path, reason) in comparison.found {
        let (impact, effect) = judge(delta, direction);
        recorder.add(impact, &path, format!("{reason}{effect}"));
    }
}

fn judge(delta: Delta, direction: Direction) -> (Impact, &'static str) {
    match (delta, direction) {
        (Delta::Narrower, Direction::Input) => (
            Impact::Breaking,
            "; the server refuses arguments that it accepted",
        ),
        (Delta::Wider, Direction::Output) => (
            Impact::Breaking,
            "; results need not match the schema that clients know",
        ),
        (Delta::Unknown, Direction::Input) => (
            Impact::Breaking,
            "; the server may refuse arguments that it accepted",
        ),
        (Delta::Unknown, Direction::Output) => (
            Impact::Breaking,
            "; results may not match the schema that clients know",
        ),
        (Delta::Narrower | Delta::Wider | Delta::Compatible, _) => (Impact::Compatible, ""),
        (Delta::Annotation, _) => (Impact::Cosmetic, ""),
    }
}

impl Comparison<'_> {
    /// Compares two schemas at the same position.
    fn schema(&mut self, old: &Value, new: &Value, path: &str) {
        let (old_ref, new_ref) = (reference(old), reference(new));
        if self.is_same(old, new) {
            return;
        }
        self.steps += 1;
        if self.steps > MAX_STEPS || self.depth >= MAX_DEPTH || path.len() > MAX_PATH {
            self.add(Delta::Unknown, path, "too large or too deep to compare");
            return;
        }
        let is_reference = old_ref.is_some() || new_ref.is_some();
        if is_reference {
            let pair = (old.to_string(), new.to_string());
            if self.running.contains(&pair) {
                return;
            }
            self.running.push(pair);
        }
        let views = (View::new(old, self.roots.0), View::new(new, self.roots.1));
        self.depth += 1;
        self.views(&views.0, &views.1, path);
        self.depth -= 1;
        if is_reference {
            self.running.pop();
        }
    }

    /// Returns true if both schemas are the same, together with the targets of their references.
    fn is_same(&self, old: &Value, new: &Value) -> bool {
        old == new && !has_references(old, self.has_same_definitions)
    }

    fn views(&mut self, old: &View, new: &View, path: &str) {
        match (old, new) {
            (View::Nothing, View::Nothing) => {}
            (_, View::Nothing) => self.add(Delta::Narrower, path, "no value is accepted"),
            (View::Nothing, _) => self.add(Delta::Wider, path, "values are accepted"),
            (View::Keywords(old), View::Keywords(new)) => {
                if self.alternatives(old, new, path) {
                    return;
                }
                self.keywords(old, new, path);
            }
        }
    }

    /// Compares all keywords except `anyOf` and `oneOf`.
    fn keywords(&mut self, old: &view::Keywords, new: &view::Keywords, path: &str) {
        self.values(old, new, path);
        self.objects(old, new, path);
        for (name, path, was, is) in pairs(old, new, path) {
            // Equal schemas may have references whose targets differ.
            let is_same = |value: &Value| {
                !OPAQUE.contains(&name) || !has_references(value, self.has_same_definitions)
            };
            if was == is && was.is_none_or(is_same) {
                continue;
            }
            if name == "default" {
                let reason = match (was, is) {
                    (None, Some(is)) => format!("added: {}", brief(is)),
                    (Some(was), Some(is)) => format!("{} became {}", brief(was), brief(is)),
                    _ => "removed".to_owned(),
                };
                self.add(Delta::Compatible, &path, reason);
            } else if OPAQUE.contains(&name) || name == "$ref" {
                self.add(Delta::Unknown, &path, "changed, and cannot be compared");
            } else if ANNOTATIONS.contains(&name) || !is_known(name) {
                let reason = match (was, is) {
                    (None, _) => "added",
                    (_, None) => "removed",
                    _ => "changed",
                };
                self.add(Delta::Annotation, &path, reason);
            }
        }
    }
}

/// Returns true for a keyword that `values`, `objects` or `alternatives` compares.
fn is_known(name: &str) -> bool {
    values::KEYWORDS.contains(&name)
        || objects::KEYWORDS.contains(&name)
        || alternatives::KEYWORDS.contains(&name)
}

fn reference(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()
}

/// Returns true if the schema has references whose targets may differ between the documents.
fn has_references(schema: &Value, has_same_definitions: bool) -> bool {
    let has = |value: &Value| has_references(value, has_same_definitions);
    let is_shared = |target: &Value| {
        let target = target.as_str().and_then(|target| target.strip_prefix("#/"));
        let name = target.and_then(|path| path.split('/').next());
        has_same_definitions && name.is_some_and(|name| DEFINITIONS.contains(&name))
    };
    match schema {
        Value::Object(map) => map.iter().any(|(key, value)| match (&**key, value) {
            ("$ref", Value::String(_)) => !is_shared(value),
            _ => has(value),
        }),
        Value::Array(items) => items.iter().any(has),
        _ => false,
    }
}

//! A schema with its references resolved.

use serde_json::{Map, Value};

use super::comparison::DEFINITIONS;

pub(super) type Keywords = Map<String, Value>;

/// Longest chain of references.
const MAX_REFERENCES: usize = 16;

/// A schema as its keywords.
pub(super) enum View {
    /// The schema `false`.
    Nothing,
    /// All other schemas. `true` has no keywords.
    Keywords(Keywords),
}

impl View {
    /// Resolves references into the same document. Keywords next to a reference replace those of its
    /// target. Other references stay as they are.
    pub(super) fn new(schema: &Value, root: &Value) -> Self {
        let mut keywords = match schema {
            Value::Bool(false) => return Self::Nothing,
            Value::Object(map) => map.clone(),
            _ => return Self::Keywords(Keywords::new()),
        };
        for _ in 0..MAX_REFERENCES {
            let Some(target) = keywords
                .get("$ref")
                .and_then(|reference| resolve(reference, root))
            else {
                break;
            };
            match target {
                Value::Bool(false) => return Self::Nothing,
                Value::Object(target) => {
                    keywords.remove("$ref");
                    let mut merged = target.clone();
                    merged.extend(keywords);
                    keywords = merged;
                }
                _ => {
                    keywords.remove("$ref");
                }
            }
        }
        // They would be repeated in each alternative.
        keywords.retain(|name, _| !DEFINITIONS.contains(&&**name));
        Self::Keywords(keywords)
    }
}

fn resolve<'a>(reference: &Value, root: &'a Value) -> Option<&'a Value> {
    root.pointer(reference.as_str()?.strip_prefix('#')?)
}

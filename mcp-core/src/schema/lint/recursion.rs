//! References that lead back to a schema around them.

use std::collections::HashSet;

use mcp_types::JsonObject;
use serde_json::Value;

use crate::schema::walk::{subschemas, target};

/// Subschemas that the search visits at most.
const MAX_REFERENCED: usize = 20_000;
/// References in a row that the search follows at most.
const MAX_OPEN: usize = 64;

/// Returns true if a reference inside a schema leads back to a schema around the reference.
pub(super) fn is_recursive(root: &JsonObject) -> bool {
    let mut search = Search {
        root,
        open: Vec::new(),
        closed: HashSet::new(),
        left: MAX_REFERENCED,
    };
    search.leads_back("#", root)
}

struct Search<'a> {
    root: &'a JsonObject,
    /// The references on the current path.
    open: Vec<&'a str>,
    closed: HashSet<&'a str>,
    left: usize,
}

impl<'a> Search<'a> {
    /// Returns true if a reference inside the target of `reference` leads back to a schema on the path.
    fn leads_back(&mut self, reference: &'a str, schema: &'a JsonObject) -> bool {
        self.open.push(reference);
        let found = self.inside(schema);
        self.open.pop();
        self.closed.insert(reference);
        found
    }

    fn inside(&mut self, schema: &'a JsonObject) -> bool {
        let Some(left) = self.left.checked_sub(1) else {
            return false;
        };
        self.left = left;
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            if self.open.contains(&reference) {
                return true;
            }
            if let Some(schema) = target(self.root, reference)
                && !self.closed.contains(reference)
                && self.open.len() < MAX_OPEN
                && self.leads_back(reference, schema)
            {
                return true;
            }
        }
        subschemas(schema)
            .filter_map(|sub| sub.schema.as_object())
            .any(|inner| self.inside(inner))
    }
}

//! Properties, and the keywords of objects and arrays.

use std::collections::BTreeSet;

use mcp_schema::{Keywords, Node};
use serde_json::Value;

use super::super::recorder::{join, pairs};
use super::comparison::{Comparison, Delta, Direction};
use super::view::View;

impl Comparison {
    pub(super) fn required(&mut self, old: &View<'_>, new: &View<'_>, path: &str) {
        let [was, is] = [old, new].map(|of| BTreeSet::from_iter(of.required()));
        for name in is.difference(&was) {
            self.add(Delta::Narrower, path, format!("{name:?} became required"));
        }
        for name in was.difference(&is) {
            let reason = format!("{name:?} is no longer required");
            self.add(Delta::Wider, path, reason);
        }
    }

    pub(super) fn properties(&mut self, old: &View<'_>, new: &View<'_>, path: &str) {
        for (_, path, was, is) in pairs(old.properties(), new.properties(), path) {
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

    pub(super) fn patterns(&mut self, old: &View<'_>, new: &View<'_>, path: &str) {
        let name = "patternProperties";
        for (_, path, was, is) in pairs(old.inner(name), new.inner(name), path) {
            match (was, is) {
                (None, _) if !is_open(old) => self.add(Delta::Wider, &path, "added"),
                (_, None) if !is_open(new) => self.add(Delta::Narrower, &path, "removed"),
                _ => self.either(was, is, &path),
            }
        }
    }

    /// Compares the elements of arrays. Drafts before 2020-12 have a list of `items`, and `additionalItems`.
    pub(super) fn items(&mut self, old: &View<'_>, new: &View<'_>, path: &str) {
        let names = |of: &View<'_>| match of.get("items") {
            Some(Value::Array(_)) => ["items", "additionalItems"],
            _ => ["prefixItems", "items"],
        };
        let ([was, rest], [is, others]) = (names(old), names(new));
        self.list(&old.list(was), &new.list(is), &join(path, is));
        let (was, is) = (old.subschema(rest), new.subschema(others));
        self.subschema(was, is, &join(path, others));
    }

    /// Compares one schema, which is `true` when it is missing.
    pub(super) fn subschema(&mut self, old: Option<Node<'_>>, new: Option<Node<'_>>, path: &str) {
        if !old.is_none_or(Node::is_true) || !new.is_none_or(Node::is_true) {
            self.either(old, new, path);
        }
    }

    /// Compares lists of schemas that all apply.
    pub(super) fn list(&mut self, old: &[Node<'_>], new: &[Node<'_>], path: &str) {
        for index in 0..old.len().max(new.len()) {
            let (was, is) = (old.get(index).copied(), new.get(index).copied());
            self.either(was, is, &join(path, &index.to_string()));
        }
    }

    pub(super) fn either(&mut self, old: Option<Node<'_>>, new: Option<Node<'_>>, path: &str) {
        match (old, new) {
            (Some(was), Some(is)) => self.schema(was, is, path),
            (None, _) => self.add(Delta::Narrower, path, "added"),
            (_, None) => self.add(Delta::Wider, path, "removed"),
        }
    }
}

/// Returns true if the schema accepts properties that it does not list.
fn is_open(schema: &View<'_>) -> bool {
    let closes = |name: &str| schema.get(name) == Some(&Value::Bool(false));
    !closes("additionalProperties") && !closes("unevaluatedProperties")
}

//! The state of a comparison, and the changes that it finds.

use std::collections::HashMap;

use mcp_schema::{Id, Walk, limits};

/// The direction of a schema's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::catalog::diff) enum Direction {
    /// Clients send the values.
    Input,
    /// Clients receive the values.
    Output,
}

/// The change in the set of accepted values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delta {
    /// Fewer values are accepted.
    Narrower,
    /// More values are accepted.
    Wider,
    /// Some values are accepted that were not, and the other way round, or it is unknown.
    Unknown,
    /// The values are the same in both directions for clients that ignore what they do not know.
    Compatible,
    /// Only annotations differ.
    Annotation,
}

/// Keywords with the targets of references. They are compared where a reference names them.
pub(super) const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// Keywords that change no set of values.
pub(super) const ANNOTATIONS: [&str; 14] = [
    "$anchor",
    "$comment",
    "$id",
    "$schema",
    "contentEncoding",
    "contentMediaType",
    "default",
    "deprecated",
    "description",
    "example",
    "examples",
    "readOnly",
    "title",
    "writeOnly",
];

/// Keywords whose change cannot be decided.
pub(super) const OPAQUE: [&str; 8] = [
    "contentSchema",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "if",
    "not",
    "then",
];

/// The reason of a difference beyond the limits.
pub(super) const TOO_LARGE: &str = "too large or too deep to compare";

/// One comparison of two documents.
pub(super) struct Comparison {
    pub(super) direction: Direction,
    pub(super) has_same_definitions: bool,
    /// The number of schemas in both documents.
    pub(super) size: usize,
    pub(super) found: Vec<(Delta, String, String)>,
    /// Pairs of schemas, and whether they are the same. Pairs that are being compared count as the same, which ends recursion.
    pub(super) pairs: HashMap<(Id, Id), bool>,
    /// The pairs that are the same if those before them are.
    pub(super) assumed: Vec<(Id, Id)>,
    pub(super) walk: Walk,
    pub(super) depth: usize,
}

impl Comparison {
    /// Adds a change. A long path for which no steps are left is that of the whole schema.
    pub(super) fn add(&mut self, delta: Delta, path: &str, reason: impl Into<String>) {
        let is_left = self.walk.spend(path.len() / limits::BYTES_PER_STEP);
        let path = if is_left { path } else { "" };
        self.found.push((delta, path.to_owned(), reason.into()));
    }
}

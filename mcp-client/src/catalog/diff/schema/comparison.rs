//! The state of a comparison, and the changes that it finds.

use serde_json::Value;

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
pub(super) const ANNOTATIONS: [&str; 13] = [
    "$anchor",
    "$comment",
    "$id",
    "$schema",
    "contentEncoding",
    "contentMediaType",
    "deprecated",
    "description",
    "example",
    "examples",
    "readOnly",
    "title",
    "writeOnly",
];

/// One comparison of two documents.
pub(super) struct Comparison<'a> {
    /// The documents, for references.
    pub(super) roots: (&'a Value, &'a Value),
    pub(super) has_same_definitions: bool,
    pub(super) direction: Direction,
    pub(super) found: Vec<(Delta, String, String)>,
    /// The pairs of schemas with references that are being compared, for recursive schemas.
    pub(super) running: Vec<(String, String)>,
    pub(super) steps: u32,
    pub(super) depth: u32,
}

impl Comparison<'_> {
    pub(super) fn add(&mut self, delta: Delta, path: &str, reason: impl Into<String>) {
        self.found.push((delta, path.to_owned(), reason.into()));
    }
}

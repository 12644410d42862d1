//! [`Lowering`]: the state of a conversion.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::place::Place;
use crate::docs;
use crate::report::Note;
use crate::types::{Shape, Table, Type};

/// Most schemas in one schema. Merged and referenced ones count each time.
pub(super) const MAX_SCHEMAS: usize = 10_000;

/// A JSON object of a schema.
pub(super) type Schema = Map<String, Value>;

/// The type that a `$ref` points to.
pub(super) enum RefTarget {
    /// The target is being converted. The flag says that a part of it refers to it.
    Open {
        slot: usize,
        used: bool,
    },
    Done(Type),
}

/// Converts one schema of a tool.
pub(super) struct Lowering<'a> {
    pub(super) root: &'a Value,
    pub(super) types: &'a mut Table,
    pub(super) targets: HashMap<String, RefTarget>,
    pub(super) schemas: usize,
    pub(super) notes: Vec<Note>,
}

impl Lowering<'_> {
    /// Returns any JSON, and notes the reason.
    pub(super) fn any(&mut self, place: &Place, reason: impl Into<String>) -> Type {
        let reason = reason.into();
        self.notes.push(Note {
            path: place.path.clone(),
            reason: reason.clone(),
        });
        Type::Value(Some(docs::inline(&reason)))
    }

    /// Defines the type of this place.
    pub(super) fn define(&mut self, place: &Place, map: &Schema, shape: Shape) -> Type {
        let slot = match place.slot {
            Some(slot) => slot,
            None => self.types.reserve(&place.name, place.label.as_deref()),
        };
        self.types.define(slot, texts(map), shape);
        Type::Named(slot)
    }
}

/// Returns the description of a schema, or else the first line of its title.
pub(super) fn texts(map: &Schema) -> Vec<String> {
    let lines = |key: &str| docs::lines(map.get(key).and_then(Value::as_str).unwrap_or_default());
    let mut texts = lines("description");
    if texts.is_empty() {
        texts.extend(lines("title").into_iter().next());
    }
    texts
}

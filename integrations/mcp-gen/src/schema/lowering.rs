//! The state of a conversion.

use std::collections::HashMap;
use std::error::Error;

use mcp_schema::{Id, Keywords, Parts, Walk};

use super::place::Place;
use crate::docs;
use crate::report::Note;
use crate::types::{Shape, Table, Type};

/// The reason why a schema has no type.
pub(super) type Reason = Box<dyn Error>;

/// Converts one schema of a tool.
pub(super) struct Lowering<'a> {
    pub(super) types: &'a mut Table,
    /// The targets of references.
    pub(super) targets: HashMap<Id, Target>,
    pub(super) walk: Walk,
    pub(super) notes: Vec<Note>,
}

/// The type of a schema that a `$ref` points to.
pub(super) enum Target {
    /// The schema is being converted. The flag says that a part of it refers to it.
    Open {
        slot: usize,
        used: bool,
    },
    Done(Type),
}

impl Lowering<'_> {
    /// Returns any JSON, and notes the reason.
    pub(super) fn any(&mut self, place: &Place, reason: &Reason) -> Type {
        let reason = reason.to_string();
        let documented = docs::inline(&reason);
        let path = place.path.clone();
        self.notes.push(Note { path, reason });
        Type::Value(Some(documented))
    }

    /// Defines the type of this place.
    pub(super) fn define(&mut self, place: &Place, docs: Vec<String>, shape: Shape) -> Type {
        let reserve = || self.types.reserve(&place.name, place.label.as_deref());
        let slot = place.slot.unwrap_or_else(reserve);
        self.types.define(slot, docs, shape);
        Type::Named(slot)
    }

    /// Returns a list, tuple or map, or the name of a large one. Types of references are copied to each reference.
    pub(super) fn container(&mut self, ty: Type, parts: &Parts<'_>, place: &Place) -> Type {
        if ty.is_large() {
            self.define(place, texts(parts), Shape::Newtype(ty))
        } else {
            ty
        }
    }
}

/// Returns the description of a schema, or else the first line of its title.
pub(super) fn texts<'s>(schema: &impl Keywords<'s>) -> Vec<String> {
    let lines = |keyword: &str| docs::lines(schema.text(keyword).unwrap_or_default());
    let mut texts = lines("description");
    if texts.is_empty() {
        texts.extend(lines("title").into_iter().next());
    }
    texts
}

//! `$ref`: shared types, and recursion.

use mcp_schema::{Keywords as _, Node};

use super::combined::MEMBERS;
use super::lowering::{Lowering, Target};
use super::place::Place;
use crate::names::type_name;
use crate::types::{Shape, Type};

/// Returns the text and the target of the reference that the schemas consist of, apart from texts and restrictions.
pub(super) fn sole<'s>(schemas: &[Node<'s>]) -> Option<(&'s str, Node<'s>)> {
    let mut references = schemas.iter().map(|schema| reference_of(*schema));
    let first = references.next()??;
    let is_same =
        |other: Option<(_, Node<'s>)>| other.is_some_and(|other| other.1.id() == first.1.id());
    references.all(is_same).then_some(first)
}

fn reference_of(schema: Node<'_>) -> Option<(&str, Node<'_>)> {
    let structure = ["anyOf", "const", "enum", "oneOf", "type"];
    let mut structure = structure.iter().chain(&MEMBERS);
    if structure.any(|key| schema.get(key).is_some()) {
        return None;
    }
    // `allOf` with one reference is how older schemas describe a reference.
    match (schema.references().next(), schema.list("allOf").as_slice()) {
        (Some(own), []) if own.keyword == "$ref" => Some((own.text, own.target?)),
        (None, [only]) => reference_of(*only),
        _ => None,
    }
}

impl Lowering<'_> {
    pub(super) fn reference(&mut self, text: &str, schema: Node<'_>, place: &Place) -> Type {
        match self.targets.get_mut(&schema.id()) {
            Some(Target::Done(ty)) => return ty.clone(),
            Some(Target::Open { slot, used }) => {
                *used = true;
                return Type::Named(*slot);
            }
            None => {}
        }
        let name = text.rsplit('/').next().unwrap_or_default();
        let name = match name {
            "" | "#" => place.name.clone(),
            name => type_name(name, &place.name),
        };
        self.target(schema, &place.inner().named(name))
    }

    /// Converts the target of a reference, which may refer to itself.
    pub(super) fn target(&mut self, schema: Node<'_>, place: &Place) -> Type {
        let slot = self.types.reserve(&place.name, place.label.as_deref());
        let open = Target::Open { slot, used: false };
        self.targets.insert(schema.id(), open);
        let place = Place {
            slot: Some(slot),
            ..place.clone()
        };
        let mut ty = self.lower(&[schema], &place);
        let open = self.targets.get(&schema.id());
        if self.types.shape(slot).is_none() {
            if matches!(open, Some(Target::Open { used: true, .. })) {
                self.types.define(slot, Vec::new(), Shape::Newtype(ty));
                ty = Type::Named(slot);
            } else {
                self.types.release(slot)
            }
        }
        self.targets.insert(schema.id(), Target::Done(ty.clone()));
        ty
    }
}

//! `$ref`: targets in the same schema, and recursion.

use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::lowering::{Lowering, RefTarget, Schema};
use super::merge::has_structure;
use super::place::Place;
use crate::names::type_name;
use crate::types::{Shape, Type};

impl Lowering<'_> {
    /// Converts a schema with `$ref` or `allOf`.
    pub(super) fn combined(&mut self, map: &Schema, place: Place) -> Type {
        if let Some(reference) = sole_reference(map) {
            return self.reference(reference, place);
        }
        match self.flatten(map, 0) {
            Ok(merged) => self.lower_map(&merged, place.rewritten()),
            Err(reason) => self.any(&place, reason),
        }
    }

    fn reference(&mut self, reference: &str, place: Place) -> Type {
        match self.targets.get_mut(reference) {
            Some(RefTarget::Done(ty)) => return ty.clone(),
            Some(RefTarget::Open { slot, used }) => {
                *used = true;
                return Type::Named(*slot);
            }
            None => {}
        }
        let target = match self.resolve(reference) {
            Ok(target) => target.clone(),
            Err(reason) => return self.any(&place, reason),
        };
        let name = reference.rsplit('/').next().unwrap_or_default();
        let name = match name {
            "" | "#" => place.name.clone(),
            name => type_name(name, &place.name),
        };
        self.target(reference, &target, place.inner().named(name))
    }

    /// Converts the target of a reference, which may refer to itself.
    pub(super) fn target(&mut self, reference: &str, schema: &Value, place: Place) -> Type {
        let slot = self.types.reserve(&place.name, place.label.as_deref());
        let open = RefTarget::Open { slot, used: false };
        self.targets.insert(reference.to_owned(), open);
        let place = Place {
            slot: Some(slot),
            ..place
        };
        let mut ty = self.lower(schema, place);
        let used = match self.targets.get(reference) {
            Some(RefTarget::Open { used, .. }) => *used,
            _ => false,
        };
        if self.types.shape(slot).is_none() {
            if used {
                self.types.define(slot, Vec::new(), Shape::Newtype(ty));
                ty = Type::Named(slot);
            } else {
                self.types.release(slot)
            }
        }
        self.targets
            .insert(reference.to_owned(), RefTarget::Done(ty.clone()));
        ty
    }

    /// Finds the target of a reference.
    pub(super) fn resolve(&self, reference: &str) -> Result<&Value, String> {
        let unknown = || {
            let short: String = reference.chars().take(100).collect();
            format!("`$ref` points to `{short}`, which is not in the schema")
        };
        let pointer = reference.strip_prefix('#').ok_or_else(unknown)?;
        let pointer = percent_decode_str(pointer).decode_utf8();
        let pointer = pointer.map_err(|_| unknown())?;
        self.root.pointer(&pointer).ok_or_else(unknown)
    }
}

/// Returns the reference if the schema has nothing else that decides the type.
fn sole_reference(map: &Schema) -> Option<&str> {
    let mut rest = map.clone();
    let reference = rest.shift_remove("$ref");
    if reference.is_some() && !has_structure(&rest) {
        return map.get("$ref")?.as_str();
    }
    // `allOf` with one reference is how older schemas describe a reference.
    let all = rest.shift_remove("allOf")?;
    let only = all.as_array().filter(|all| all.len() == 1)?;
    if reference.is_some() || has_structure(&rest) || only.first()?.as_object()?.len() != 1 {
        return None;
    }
    map.get("allOf")?.get(0)?.get("$ref")?.as_str()
}

//! `$ref`: targets in the same schema, recursion, and types that several tools share.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::lowering::{Lowering, RefTarget, Schema};
use super::merge::has_structure;
use super::place::Place;
use crate::names::type_name;
use crate::types::{Shape, Type};

/// Largest content of `$defs` that is compared between tools.
const MAX_SHARED_BYTES: usize = 64 << 10;

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
        let shared = self.shared_key(reference);
        if let Some((ty, notes)) = shared.as_ref().and_then(|key| self.types.shared.get(key)) {
            let ty = ty.clone();
            self.notes.extend(notes.iter().cloned());
            self.targets
                .insert(reference.to_owned(), RefTarget::Done(ty.clone()));
            return ty;
        }
        let before = self.notes.len();
        let name = reference.rsplit('/').next().unwrap_or_default();
        let name = match name {
            "" | "#" => place.name.clone(),
            name => type_name(name, &place.name),
        };
        let ty = self.target(reference, &target, place.inner().named(name));
        if let Some(key) = shared {
            let notes = self.notes.get(before..).unwrap_or_default().to_vec();
            self.types.shared.insert(key, (ty.clone(), notes));
        }
        ty
    }

    /// Converts the target of a reference, which may refer to itself.
    pub(super) fn target(&mut self, reference: &str, schema: &Value, place: Place) -> Type {
        let slot = self.types.reserve(&place.name);
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
        if self.types.get(slot).is_none() {
            match used {
                true => {
                    self.types.define(slot, Vec::new(), Shape::Newtype(ty));
                    ty = Type::Named(slot);
                }
                false => self.types.release(slot),
            }
        }
        self.targets
            .insert(reference.to_owned(), RefTarget::Done(ty.clone()));
        ty
    }

    /// Finds the target of a reference.
    pub(super) fn resolve(&self, reference: &str) -> Result<&Value, String> {
        resolve(self.root, reference)
    }

    /// Returns the name and the whole content of a definition, with the definitions that it refers to.
    /// `None` if they refer to anything else.
    fn shared_key(&self, reference: &str) -> Option<String> {
        let mut found = BTreeMap::new();
        let mut open = BTreeSet::from([reference.to_owned()]);
        let mut bytes = 0;
        while let Some(next) = open.pop_first() {
            let name = next
                .strip_prefix("#/$defs/")
                .or_else(|| next.strip_prefix("#/definitions/"))?;
            if name.contains('/') {
                return None;
            }
            let target = self.resolve(&next).ok()?;
            let text = target.to_string();
            bytes += text.len();
            if bytes > MAX_SHARED_BYTES {
                return None;
            }
            references(target, &mut |it| {
                if !found.contains_key(it) && it != next {
                    open.insert(it.to_owned());
                }
            });
            found.insert(next, text);
        }
        Some(format!("{reference} {found:?}"))
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

fn resolve<'a>(root: &'a Value, reference: &str) -> Result<&'a Value, String> {
    let unknown = || {
        let short: String = reference.chars().take(100).collect();
        format!("`$ref` points to `{short}`, which is not in the schema")
    };
    let pointer = reference.strip_prefix('#').ok_or_else(unknown)?;
    let pointer = percent_decoded(pointer).ok_or_else(unknown)?;
    root.pointer(&pointer).ok_or_else(unknown)
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        let (high, low) = (digit(rest.next())?, digit(rest.next())?);
        bytes.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(bytes).ok()
}

/// Calls `found` with every reference in a schema.
fn references(value: &Value, found: &mut impl FnMut(&str)) {
    match value {
        Value::Object(map) => {
            if let Some(Value::String(reference)) = map.get("$ref") {
                found(reference);
            }
            map.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

//! `anyOf`, `oneOf` and lists of types: options and enums.

use mcp_schema::{Keywords as _, Node, Parts, Type as Kind};
use serde_json::Value;

use super::combined::STRUCTURE;
use super::place::Place;
use super::{Lowering, Reason, texts};
use crate::names::{Names, type_name, variant_name};
use crate::types::{Shape, Table, Type};

/// Most branches of a union.
const MAX_BRANCHES: usize = 100;

/// A branch of a union.
pub(super) enum Branch<'s> {
    /// A schema of `anyOf` or `oneOf`.
    Schema(Node<'s>),
    /// One of several types.
    Kind(Kind),
}

/// Returns the schemas of `anyOf` or `oneOf`. `None` if they do not change the type.
pub(super) fn branches<'s>(parts: &Parts<'s>) -> Result<Option<Vec<Node<'s>>>, Reason> {
    match (parts.get("anyOf"), parts.get("oneOf")) {
        (None, None) => return Ok(None),
        (Some(_), Some(_)) => return Err("only one of `anyOf` and `oneOf` has a type".into()),
        _ => {}
    }
    let branches = parts.alternatives();
    if branches.is_empty() || branches.len() > MAX_BRANCHES {
        return Err(format!("a union has 1 to {MAX_BRANCHES} branches").into());
    }
    // `anyOf` beside `properties` often says only which of them are required.
    let keywords = ["properties", "$ref", "allOf", "anyOf", "oneOf"];
    let adds_members = |branch: &Node<'_>| keywords.iter().any(|key| branch.get(key).is_some());
    let is_union = parts.get("properties").is_none() || branches.iter().any(adds_members);
    Ok(is_union.then_some(branches))
}

impl Lowering<'_> {
    pub(super) fn union(
        &mut self,
        parts: &Parts<'_>,
        branches: Vec<Node<'_>>,
        place: &Place,
    ) -> Result<Type, Reason> {
        let values = branches.iter().map(|branch| branch.listed());
        if let Some(values) = values.collect::<Option<Vec<_>>>() {
            let strings = values.into_iter().flatten().map(Value::as_str);
            if let Some(strings) = strings.collect::<Option<Vec<_>>>() {
                return Ok(self.strings(parts, &strings, place));
            }
        }
        let branches = branches.into_iter().map(Branch::Schema).collect();
        Ok(self.one_of(parts, branches, texts(parts), place))
    }

    /// Converts a union in the schemas `parts`, which has the documentation `docs`.
    pub(super) fn one_of(
        &mut self,
        parts: &Parts<'_>,
        mut branches: Vec<Branch<'_>>,
        docs: Vec<String>,
        place: &Place,
    ) -> Type {
        let count = branches.len();
        branches.retain(|branch| match branch {
            Branch::Schema(schema) => !schema.is_null(),
            Branch::Kind(kind) => *kind != Kind::Null,
        });
        let nullable = branches.len() < count;
        let place = if nullable {
            place.inner()
        } else {
            place.clone()
        };
        let ty = match branches.as_slice() {
            [] => Type::Null,
            [only] => self.branch(only, parts, &place.rewritten()),
            _ => self.variants(parts, &branches, docs, &place),
        };
        if nullable { ty.optional() } else { ty }
    }

    fn branch(&mut self, branch: &Branch<'_>, parts: &Parts<'_>, place: &Place) -> Type {
        let ty = match branch {
            Branch::Kind(kind) => self.of_kind(*kind, parts, place),
            Branch::Schema(schema) if adds_structure(parts, schema) => {
                let inner = parts.alternative(*schema, &self.walk, place.depth);
                inner
                    .map_err(Reason::from)
                    .and_then(|inner| self.parts(&inner, place))
            }
            Branch::Schema(schema) => return self.lower(&[*schema], place),
        };
        ty.unwrap_or_else(|reason| self.any(place, &reason))
    }

    fn variants(
        &mut self,
        parts: &Parts<'_>,
        branches: &[Branch<'_>],
        docs: Vec<String>,
        place: &Place,
    ) -> Type {
        let mut variants: Vec<(String, Type)> = Vec::new();
        let mut nullable = false;
        for (index, branch) in branches.iter().enumerate() {
            let hint = match branch {
                Branch::Schema(schema) => hint(*schema),
                Branch::Kind(_) => None,
            };
            let suffix = hint.as_deref().unwrap_or("Variant");
            let at = place.child(suffix, &format!("anyOf/{index}"));
            let ty = match self.branch(branch, parts, &at) {
                Type::Option(inner) => {
                    nullable = true;
                    *inner
                }
                Type::Null => {
                    nullable = true;
                    continue;
                }
                // A branch that allows everything makes the union any JSON.
                Type::Value(None) => return Type::Value(None),
                ty => ty,
            };
            if !variants.iter().any(|(_, known)| known.is_same(&ty)) {
                let name = hint.unwrap_or_else(|| self.kind(&ty));
                variants.push((name, ty));
            }
        }
        if variants.iter().any(|(_, ty)| *ty == Type::Number) {
            variants.retain(|(_, ty)| !matches!(ty, Type::Integer | Type::Unsigned));
        }
        if variants.iter().any(|(_, ty)| *ty == Type::Integer) {
            variants.retain(|(_, ty)| *ty != Type::Unsigned);
        }
        variants.sort_by_key(|(_, ty)| rank(ty, self.types));
        let ty = match variants.len() {
            0 => Type::Null,
            1 => variants.remove(0).1,
            _ => {
                let mut names = Names::default();
                let named =
                    |(name, ty): (String, Type)| (names.take(&variant_name(&name, "Variant")), ty);
                let variants = variants.into_iter().map(named).collect();
                let slot = place.slot.filter(|_| !nullable);
                let place = Place {
                    slot,
                    ..place.clone()
                };
                self.define(&place, docs, Shape::Union(variants))
            }
        };
        if nullable { ty.optional() } else { ty }
    }

    /// Names a variant by its type.
    fn kind(&self, ty: &Type) -> String {
        let name = match ty {
            Type::Value(_) => "Other",
            Type::Null => "Null",
            Type::Bool => "Bool",
            Type::Integer | Type::Unsigned => "Integer",
            Type::Number => "Number",
            Type::Text => "String",
            Type::List(_) => "List",
            Type::Tuple(_) => "Tuple",
            Type::Map(_) => "Object",
            Type::Option(inner) | Type::Boxed(inner) => return self.kind(inner),
            Type::Named(slot) => match self.types.shape(*slot) {
                Some(Shape::Choice(_)) => "Choice",
                Some(Shape::Struct { .. }) => "Object",
                _ => "Variant",
            },
        };
        name.to_owned()
    }
}

/// Names a variant by its reference, its constant member or its title.
fn hint(branch: Node<'_>) -> Option<String> {
    if let Some(reference) = branch.text("$ref") {
        let name = reference.rsplit('/').next()?;
        return (!name.is_empty() && name != "#").then(|| name.to_owned());
    }
    let mut members = branch.properties().into_iter();
    let constant = members.find_map(|(_, member)| match member.listed()? {
        [only] => only.as_str(),
        _ => None,
    });
    let name = constant.or_else(|| branch.text("title"))?;
    Some(type_name(name, "Variant"))
}

/// Returns true if the keywords beside a union decide the type of a branch, together with those of the branch.
fn adds_structure(parts: &Parts<'_>, branch: &Node<'_>) -> bool {
    let beside = STRUCTURE
        .iter()
        .filter(|key| !["anyOf", "oneOf"].contains(key));
    let mut beside = beside.filter_map(|key| Some((*key, parts.get(key)?)));
    let repeats_type = |ty| {
        let is_combined = ["$ref", "allOf"]
            .iter()
            .any(|key| branch.get(key).is_some());
        is_combined || branch.get("type") == Some(ty)
    };
    beside.any(|(key, value)| key != "type" || !repeats_type(value))
}

/// Order of variants: serde takes the first one that matches, so specific types come first.
fn rank(ty: &Type, types: &Table) -> (u8, usize) {
    match ty {
        Type::Null => (0, 0),
        Type::Bool => (1, 0),
        Type::Unsigned => (2, 0),
        Type::Integer => (3, 0),
        Type::Number => (4, 0),
        Type::Text => (6, 0),
        Type::Tuple(_) => (7, 0),
        // serde reads structs from arrays as well, so lists come before them.
        Type::List(_) => (8, 0),
        Type::Option(inner) | Type::Boxed(inner) => rank(inner, types),
        Type::Named(slot) => match types.shape(*slot) {
            Some(Shape::Choice(_)) => (5, 0),
            Some(Shape::Struct { fields, .. }) => {
                let required = fields
                    .iter()
                    .filter(|field| field.required.is_some())
                    .count();
                let constant = fields
                    .iter()
                    .any(|field| field.required.is_some() && field.constant);
                (if constant { 9 } else { 10 }, usize::MAX - required)
            }
            _ => (10, usize::MAX),
        },
        Type::Map(_) => (11, 0),
        Type::Value(_) => (12, 0),
    }
}

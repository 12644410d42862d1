//! `anyOf`, `oneOf` and lists of types: options and enums.

use mcp_schema::{Keywords as _, Node, Parts, Type as Kind};
use serde_json::Value;

use super::combined::MEMBERS;
use super::lowering::{Lowering, Reason, texts};
use super::place::Place;
use crate::names::{Names, type_name, variant_name};
use crate::types::{Shape, Table, Type};

/// Most branches of a union.
const MAX_BRANCHES: usize = 100;

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
        let lists = branches.iter().map(|branch| branch.listed());
        if let Some(lists) = lists.collect::<Option<Vec<_>>>() {
            let strings = lists.into_iter().flatten().map(Value::as_str);
            if let Some(strings) = strings.collect::<Option<Vec<_>>>() {
                return Ok(self.strings(parts, &strings, place));
            }
        }
        let count = branches.len();
        let branches = branches.into_iter().filter(|branch| !branch.is_null());
        let branches: Vec<_> = branches.map(|branch| (hint(branch), branch)).collect();
        let nullable = branches.len() < count;
        let only = place.rewritten();
        let is_only = branches.len() == 1 && !nullable;
        let place = if is_only { &only } else { place };
        self.optional(nullable, place, |this, place| {
            let convert = |this: &mut Self, branch: Node<'_>, at: &Place| {
                if adds_structure(parts, branch) {
                    let inner = parts.alternative(branch, &this.walk, at.depth)?;
                    this.parts(&inner, at)
                } else {
                    Ok(this.lower(&[branch], at))
                }
            };
            Ok(this.variants(branches, texts(parts), place, convert))
        })
    }

    /// Converts a list of types, such as `["string", "null"]`.
    pub(super) fn of_kinds(
        &mut self,
        parts: &Parts<'_>,
        kinds: Vec<Kind>,
        place: &Place,
    ) -> Result<Type, Reason> {
        let nullable = kinds.contains(&Kind::Null);
        let kinds = kinds.into_iter().filter(|kind| *kind != Kind::Null);
        let kinds = kinds.map(|kind| (None, kind)).collect();
        self.optional(nullable, place, |this, place| {
            let convert = |this: &mut Self, kind, at: &Place| this.of_kind(kind, parts, at);
            Ok(this.variants(kinds, Vec::new(), place, convert))
        })
    }

    /// Converts branches, each with the name of its variant if it has one.
    fn variants<T>(
        &mut self,
        branches: Vec<(Option<String>, T)>,
        docs: Vec<String>,
        place: &Place,
        convert: impl Fn(&mut Self, T, &Place) -> Result<Type, Reason>,
    ) -> Type {
        let is_only = branches.len() == 1;
        let mut variants: Vec<(String, Type)> = Vec::new();
        let mut nullable = false;
        for (index, (hint, branch)) in branches.into_iter().enumerate() {
            let at = if is_only {
                place.clone()
            } else {
                let suffix = hint.as_deref().unwrap_or("Variant");
                place.child(suffix, &format!("anyOf/{index}"))
            };
            let ty = convert(self, branch, &at);
            let ty = match ty.unwrap_or_else(|reason| self.any(&at, &reason)) {
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
                let name = hint.unwrap_or_else(|| kind(&ty, self.types).0.to_owned());
                variants.push((name, ty));
            }
        }
        if variants.iter().any(|(_, ty)| *ty == Type::Number) {
            variants.retain(|(_, ty)| !matches!(ty, Type::Integer | Type::Unsigned));
        }
        if variants.iter().any(|(_, ty)| *ty == Type::Integer) {
            variants.retain(|(_, ty)| *ty != Type::Unsigned);
        }
        variants.sort_by_key(|(_, ty)| kind(ty, self.types).1);
        let ty = match variants.len() {
            0 => Type::Null,
            1 => variants.remove(0).1,
            _ => {
                let mut names = Names::default();
                for (name, _) in &mut variants {
                    *name = names.take(&variant_name(name, "Variant"));
                }
                let mut place = place.clone();
                place.slot = place.slot.filter(|_| !nullable);
                self.define(&place, docs, Shape::Union(variants))
            }
        };
        if nullable { ty.optional() } else { ty }
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
fn adds_structure(parts: &Parts<'_>, branch: Node<'_>) -> bool {
    let is_combined = branch.get("$ref").or(branch.get("allOf")).is_some();
    let repeats_type = is_combined || branch.get("type") == parts.get("type");
    let adds_type = !repeats_type && parts.get("type").is_some();
    adds_type || MEMBERS.iter().any(|key| parts.get(key).is_some())
}

/// Returns the name of a variant with this type, and its order: serde takes the first one that matches, so specific types
/// come first.
fn kind(ty: &Type, types: &Table) -> (&'static str, (u8, usize)) {
    let (name, order) = match ty {
        Type::Null => ("Null", 0),
        Type::Bool => ("Bool", 1),
        Type::Unsigned => ("Integer", 2),
        Type::Integer => ("Integer", 3),
        Type::Number => ("Number", 4),
        Type::Text => ("String", 6),
        Type::Tuple(_) => ("Tuple", 7),
        // serde reads structs from arrays as well, so lists come before them.
        Type::List(_) => ("List", 8),
        Type::Option(inner) | Type::Boxed(inner) => return kind(inner, types),
        Type::Named(slot) => match types.shape(*slot) {
            Some(Shape::Choice(_)) => ("Choice", 5),
            Some(Shape::Struct { fields, .. }) => {
                let required = fields.iter().filter(|field| field.required.is_some());
                let order = if required.clone().any(|field| field.constant) {
                    9
                } else {
                    10
                };
                return ("Object", (order, usize::MAX - required.count()));
            }
            // The name of a large type, or of one that contains itself.
            Some(Shape::Newtype(inner @ (Type::List(_) | Type::Tuple(_) | Type::Map(_)))) => {
                return kind(inner, types);
            }
            _ => return ("Variant", (10, usize::MAX)),
        },
        Type::Map(_) => ("Object", 11),
        Type::Value(_) => ("Other", 12),
    };
    (name, (order, 0))
}

//! `anyOf`, `oneOf` and lists of types: options and enums.

use serde_json::{Map, Value, json};

use super::lowering::{Lowering, Schema};
use super::merge::has_structure;
use super::place::Place;
use crate::names::{Names, type_name, variant_name};
use crate::types::{Shape, Table, Type};

/// Most branches of a union.
const MAX_BRANCHES: usize = 100;

/// Returns the branches of `anyOf` or `oneOf`. `None` if the schema has none or both.
pub(super) fn branches(map: &Schema) -> Option<Vec<Value>> {
    match (map.get("anyOf"), map.get("oneOf")) {
        (Some(list), None) | (None, Some(list)) => list.as_array().cloned(),
        _ => None,
    }
}

impl Lowering<'_> {
    pub(super) fn union(&mut self, map: &Schema, branches: &[Value], place: Place) -> Type {
        let mut base = map.clone();
        base.shift_remove("anyOf");
        base.shift_remove("oneOf");
        if branches.is_empty() || branches.len() > MAX_BRANCHES {
            return self.any(&place, format!("a union has 1 to {MAX_BRANCHES} branches"));
        }
        let adds_members = |branch: &Value| {
            branch.as_object().is_some_and(|map| {
                let keys = ["properties", "$ref", "allOf", "anyOf", "oneOf"];
                keys.iter().any(|key| map.contains_key(*key))
            })
        };
        // `anyOf` beside `properties` often says only which of them are required.
        if base.contains_key("properties") && !branches.iter().any(adds_members) {
            return self.lower_map(&base, place.rewritten());
        }
        if let Some(values) = constants(branches) {
            let values: Vec<&str> = values.iter().map(String::as_str).collect();
            return self.strings(&base, &values, &place);
        }
        let branches: Vec<Value> = branches
            .iter()
            .map(|branch| with_base(&base, branch))
            .collect();
        let is_null = |branch: &&Value| branch.get("type") == Some(&json!("null"));
        let nullable = branches.iter().any(|branch| is_null(&branch));
        let branches: Vec<&Value> = branches.iter().filter(|branch| !is_null(branch)).collect();
        match (nullable, branches.as_slice()) {
            (true, []) => Type::Null,
            (false, [only]) => self.lower(only, place.rewritten()),
            (true, [only]) => self.lower(only, place.inner()).optional(),
            (true, _) => self.variants(&base, &branches, place.inner()).optional(),
            (false, _) => self.variants(&base, &branches, place),
        }
    }

    /// Converts a list of types, such as `["string", "null"]`.
    pub(super) fn of_types(&mut self, names: &[Value], map: &Schema, place: Place) -> Type {
        let mut base = map.clone();
        base.shift_remove("type");
        let branches: Vec<Value> = names
            .iter()
            .map(|name| {
                let mut branch = base.clone();
                branch.insert("type".to_owned(), name.clone());
                Value::Object(branch)
            })
            .collect();
        self.union(&Map::new(), &branches, place)
    }

    fn variants(&mut self, base: &Schema, branches: &[&Value], place: Place) -> Type {
        let mut variants: Vec<(String, Type)> = Vec::new();
        let mut nullable = false;
        for (index, branch) in branches.iter().enumerate() {
            let hint = hint(branch);
            let suffix = hint.as_deref().unwrap_or("Variant");
            let ty = self.lower(branch, place.child(suffix, &format!("anyOf/{index}")));
            let ty = match ty {
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
                let place = Place { slot, ..place };
                self.define(&place, base, Shape::Union(variants))
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
fn hint(branch: &Value) -> Option<String> {
    let map = branch.as_object()?;
    if let Some(reference) = map.get("$ref").and_then(Value::as_str) {
        let name = reference.rsplit('/').next()?;
        return (!name.is_empty() && name != "#").then(|| name.to_owned());
    }
    let properties = map.get("properties").and_then(Value::as_object);
    let constant = properties
        .into_iter()
        .flat_map(Map::values)
        .find_map(|member| {
            let single = member.get("enum").and_then(Value::as_array);
            let single = single
                .filter(|values| values.len() == 1)
                .and_then(|values| values.first());
            member.get("const").or(single)?.as_str()
        });
    let title = map.get("title").and_then(Value::as_str);
    let name = constant.or(title)?;
    Some(type_name(name, "Variant"))
}

/// Returns the strings if all branches are constants or enums of strings.
fn constants(branches: &[Value]) -> Option<Vec<String>> {
    let mut values = Vec::new();
    for branch in branches {
        let list = match (branch.get("const"), branch.get("enum")) {
            (Some(value), None) => std::slice::from_ref(value),
            (None, Some(Value::Array(list))) => list.as_slice(),
            _ => return None,
        };
        for value in list {
            values.push(value.as_str()?.to_owned());
        }
    }
    Some(values)
}

/// Adds the keywords beside a union to a branch.
fn with_base(base: &Schema, branch: &Value) -> Value {
    let Some(map) = branch.as_object() else {
        return branch.clone();
    };
    let repeats_type = base.get("type").is_some_and(|ty| {
        map.contains_key("$ref") || map.contains_key("allOf") || map.get("type") == Some(ty)
    });
    let mut structure = base.clone();
    structure.retain(|key, _| !["title", "description", "default", "examples"].contains(&&**key));
    if repeats_type {
        structure.shift_remove("type");
    }
    if !has_structure(&structure) {
        return branch.clone();
    }
    // The keywords of the branch win: its texts describe it.
    let mut combined = Schema::new();
    combined.insert("allOf".to_owned(), json!([branch, structure]));
    if let Some(title) = map.get("title") {
        combined.insert("title".to_owned(), title.clone());
    }
    Value::Object(combined)
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

//! The schemas that apply to one value: what all of them say, and where they contradict each other.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use mcp_schema::{Keywords, Node, Parts, Type as Kind, Walk};
use mcp_types::shorten;
use serde_json::Value;

use super::lowering::Reason;

/// Keywords with the members and elements of a type.
pub(super) const MEMBERS: [&str; 6] = [
    "additionalProperties",
    "items",
    "patternProperties",
    "prefixItems",
    "properties",
    "required",
];
/// Keywords that have no type if they differ in two schemas. `items` is one where it is a list.
const SINGLE: [&str; 5] = [
    "anyOf",
    "items",
    "oneOf",
    "patternProperties",
    "prefixItems",
];
/// The reason for values that are not schemas.
pub(super) const NO_SCHEMA: &str = "a schema is an object or a boolean";
/// The reason for the schema `false`.
pub(super) const FALSE: &str = "no value matches the schema `false`";
/// Steps for comparing two values of such a keyword, which have up to 128 KiB each.
const COMPARISON: usize = 256;

/// Checks that the schemas are there, and that a value can match all of them.
pub(super) fn check(parts: &Parts<'_>, walk: &Walk) -> Result<(), Reason> {
    for (index, part) in parts.nodes().iter().enumerate() {
        if part.object().is_none() && !part.is_true() {
            return Err(match index {
                _ if !part.is_false() => NO_SCHEMA,
                0 => FALSE,
                _ => "a part of `allOf` matches no value",
            }
            .into());
        }
        for reference in part.references() {
            let keyword = reference.keyword;
            if keyword != "$ref" {
                let reason = format!("`{keyword}` depends on the schema that refers to it");
                return Err(reason.into());
            }
            if reference.target.is_none() {
                let short = shorten(reference.text, 100);
                let reason = format!("`$ref` points to `{short}`, which is not in the schema");
                return Err(reason.into());
            }
        }
    }
    for keyword in SINGLE {
        let values = parts.all(keyword);
        let mut values = values.filter(|value| keyword != "items" || value.is_array());
        let first = values.next();
        let differs = |value| {
            walk.spend(COMPARISON);
            Some(value) != first
        };
        if values.any(differs) {
            return Err(format!("`allOf` combines two `{keyword}`").into());
        }
    }
    Ok(())
}

/// Returns what is in all lists.
fn common<T: Eq + Hash>(
    lists: impl IntoIterator<Item = Vec<T>>,
    what: &str,
) -> Result<Vec<T>, Reason> {
    let mut lists = lists.into_iter();
    let mut common = lists.next().unwrap_or_default();
    for list in lists {
        let list: HashSet<T> = list.into_iter().collect();
        common.retain(|item| list.contains(item));
        if common.is_empty() {
            return Err(format!("`allOf` demands two different {what}").into());
        }
    }
    Ok(common)
}

/// Returns the types of the values. None: any type.
pub(super) fn kinds(parts: &Parts<'_>) -> Result<Vec<Kind>, Reason> {
    let lists = parts.nodes().iter().filter_map(|part| {
        let names = part.get("type")?;
        Some(types(part, names))
    });
    let mut kinds = common(lists.collect::<Result<Vec<_>, _>>()?, "types")?;
    if kinds.contains(&Kind::Number) {
        kinds.retain(|kind| *kind != Kind::Integer);
    }
    if kinds.is_empty() {
        // A schema without `type` restricts the values of one type only. Tools mean that type.
        kinds = match parts.get("required") {
            Some(_) => vec![Kind::Object],
            None => parts.kinds(),
        };
    }
    Ok(kinds)
}

/// Returns the types that `type` names in a schema, with the integers among the numbers.
fn types(part: &Node<'_>, names: &Value) -> Result<Vec<Kind>, Reason> {
    let mut kinds = part.types();
    // Draft 3 has schemas in the list.
    let has_schemas = names
        .as_array()
        .is_some_and(|names| names.iter().any(Value::is_object));
    if kinds.is_empty() || has_schemas {
        let names = names.to_string();
        let names = shorten(names.trim_matches('"'), 50);
        let rule = "`type` is a string or an array of strings";
        return Err(format!("JSON has no type `{names}`: {rule}").into());
    }
    if kinds.contains(&Kind::Number) {
        kinds.push(Kind::Integer);
    }
    Ok(kinds)
}

/// Returns the values of `const` or `enum`. `None` if the schemas have neither.
pub(super) fn values<'s>(parts: &Parts<'s>) -> Result<Option<Vec<&'s Value>>, Reason> {
    let constants = parts.all("const").map(|value| vec![value]);
    let constants = common(constants, "constants")?;
    if !constants.is_empty() {
        return Ok(Some(constants));
    }
    let lists = parts.all("enum").map(|list| {
        let list = list.as_array().ok_or("`enum` must be an array")?;
        Ok::<_, Reason>(list.iter().collect())
    });
    let lists = lists.collect::<Result<Vec<_>, _>>()?;
    let has_values = !lists.is_empty();
    let values = common(lists, "enums")?;
    Ok(has_values.then_some(values))
}

/// Returns the schemas of a keyword, without those that accept each value.
pub(super) fn schemas<'s>(parts: &Parts<'s>, keyword: &str) -> Vec<Node<'s>> {
    let values = parts.all(keyword);
    let schemas = values.filter_map(|value| parts.nodes().first()?.find(value));
    schemas.filter(|schema| !schema.is_true()).collect()
}

/// Returns the named and the required members with their schemas, without those that accept each value.
pub(super) fn members<'s>(parts: &Parts<'s>) -> Vec<(&'s str, Vec<Node<'s>>)> {
    let named = parts.nodes().iter().flat_map(|part| part.properties());
    let named = named.map(|(key, schema)| (key, Some(schema)));
    let required = parts.required().into_iter().map(|key| (key, None));
    let mut members = Vec::new();
    let mut places = HashMap::new();
    for (key, schema) in named.chain(required) {
        let place = *places.entry(key).or_insert(members.len());
        if place == members.len() {
            members.push((key, Vec::new()));
        }
        let schema = schema.filter(|schema| !schema.is_true());
        members[place].1.extend(schema);
    }
    members
}

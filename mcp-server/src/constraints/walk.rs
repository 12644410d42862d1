//! The schemas that apply to a value, and what they say about it together.

use mcp_schema::{Keywords as _, Node, Type, Walk};
use serde_json::Value;

/// Returns the schemas for the same value: those in `allOf`, `anyOf` and `oneOf`, and the target of `$ref`.
pub(crate) fn parts<'s>(schema: Node<'s>, walk: &Walk) -> Vec<Node<'s>> {
    let mut parts = schema.list("allOf");
    parts.extend(schema.alternatives());
    parts.extend(walk.target(schema));
    parts.retain(|part| part.object().is_some());
    parts
}

/// Returns the schemas that all apply to the same value: those in `allOf`, and the target of `$ref`.
pub(crate) fn all_of<'s>(schema: Node<'s>, walk: &Walk) -> Vec<Node<'s>> {
    let mut parts = schema.list("allOf");
    parts.extend(walk.target(schema));
    parts
}

/// Counts a visit of a schema with a value. Long lists of names and values count as more.
pub(crate) fn step(schema: Node<'_>, walk: &Walk, hops: usize) -> bool {
    const WEIGHT_PER_STEP: usize = 4;
    walk.spend(schema.weight() / WEIGHT_PER_STEP) && walk.step(hops)
}

/// Returns whether a value counts as absent: `null` for an optional property that does not list it, and an
/// empty text where text is none of the types, which numbers, choices and formats are not.
pub(crate) fn is_blank(value: &Value, schema: Node<'_>, is_required: bool, walk: &Walk) -> bool {
    match value {
        Value::Null => !is_required && !types(schema, walk).contains(&Type::Null),
        Value::String(text) if text.is_empty() => !takes_empty_text(schema, walk, 0),
        _ => false,
    }
}

/// Returns the JSON types that a schema names; none if it does not restrict the type.
pub(crate) fn types(schema: Node<'_>, walk: &Walk) -> Vec<Type> {
    let mut types = Vec::new();
    collect_types(schema, walk, &mut types, 0);
    types
}

fn collect_types(schema: Node<'_>, walk: &Walk, types: &mut Vec<Type>, hops: usize) {
    if !step(schema, walk, hops) {
        return;
    }
    types.extend(schema.types());
    let listed = schema.listed().unwrap_or_default();
    types.extend(listed.iter().any(Value::is_string).then_some(Type::String));
    for part in parts(schema, walk) {
        collect_types(part, walk, types, hops + 1);
    }
}

fn takes_empty_text(schema: Node<'_>, walk: &Walk, hops: usize) -> bool {
    if !step(schema, walk, hops) || schema.object().is_none() {
        return true;
    }
    if let Some(listed) = schema.listed() {
        return listed.contains(&"".into());
    }
    let types = schema.types();
    if !types.is_empty() {
        return types.contains(&Type::String) && schema.get("format").is_none();
    }
    let parts = parts(schema, walk);
    parts.is_empty()
        || parts
            .into_iter()
            .any(|part| takes_empty_text(part, walk, hops + 1))
}

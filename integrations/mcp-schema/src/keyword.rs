//! The keywords whose values are schemas.

use serde_json::Value;

use crate::JsonObject;

/// A keyword with schemas, and whether its value is a map of them. Otherwise it is one schema or a list.
pub(crate) type Keyword = (&'static str, bool);

const KEYWORDS: [Keyword; 22] = [
    ("properties", true),
    ("patternProperties", true),
    ("dependentSchemas", true),
    ("dependencies", true),
    ("$defs", true),
    ("definitions", true),
    ("additionalProperties", false),
    ("unevaluatedProperties", false),
    ("propertyNames", false),
    ("items", false),
    ("prefixItems", false),
    ("additionalItems", false),
    ("unevaluatedItems", false),
    ("contains", false),
    ("allOf", false),
    ("anyOf", false),
    ("oneOf", false),
    ("not", false),
    ("if", false),
    ("then", false),
    ("else", false),
    ("contentSchema", false),
];

pub(crate) fn keyword(name: &str) -> Option<Keyword> {
    KEYWORDS.into_iter().find(|(known, _)| *known == name)
}

/// The place of a schema in the value of a keyword.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "JSON has no other places")]
pub enum Place<'s> {
    /// The value itself.
    Value,
    /// The element of a list, such as `anyOf`.
    Index(usize),
    /// The member of a map, such as `properties`.
    Name(&'s str),
}

/// Returns the schemas in a keyword's value. Draft 7 has lists of names in `dependencies`, which are none.
pub(crate) fn schemas(
    (_, is_map): Keyword,
    value: &Value,
) -> impl Iterator<Item = (Place<'_>, &Value)> {
    let members = value.as_object().filter(|_| is_map);
    let members = members.into_iter().flatten();
    let members = members.filter(|(_, schema)| !schema.is_array());
    let elements = value.as_array().filter(|_| !is_map);
    let elements = elements.into_iter().flatten().enumerate();
    let one = (!is_map && !value.is_array()).then_some((Place::Value, value));
    let members = members.map(|(name, schema)| (Place::Name(name), schema));
    let elements = elements.map(|(index, schema)| (Place::Index(index), schema));
    members.chain(elements).chain(one)
}

/// Calls `change` with each schema directly inside a schema, for functions that write schemas. `true` and `false` are left out.
pub fn change_subschemas(schema: &mut JsonObject, change: impl FnMut(&mut JsonObject)) {
    let schemas = subschemas_mut(schema).filter_map(Value::as_object_mut);
    schemas.for_each(change);
}

/// Iterates over the values directly inside a schema that stand in the place of schemas, for functions that also change `true`
/// and `false`, or what is not a schema, such as the lists of names in `dependencies`.
pub fn subschemas_mut(schema: &mut JsonObject) -> impl Iterator<Item = &mut Value> {
    schema.iter_mut().flat_map(|(name, value)| {
        let schemas: Vec<_> = match (keyword(name), value) {
            (Some((_, true)), Value::Object(members)) => members.values_mut().collect(),
            (Some((_, false)), Value::Array(list)) => list.iter_mut().collect(),
            (Some((_, false)), one) => vec![one],
            _ => Vec::new(),
        };
        schemas
    })
}

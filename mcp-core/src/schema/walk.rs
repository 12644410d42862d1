//! The keywords of JSON Schema that hold further schemas.

use mcp_types::JsonObject;
use serde_json::Value;

/// A schema inside of another one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subschema<'a> {
    /// The keyword that holds it.
    pub(crate) keyword: &'static str,
    /// Its name there, where the keyword holds a map.
    pub(crate) name: Option<&'a str>,
    /// Its place there, where the keyword holds a list.
    pub(crate) index: Option<usize>,
    pub(crate) schema: &'a Value,
}

impl Subschema<'_> {
    /// Appends its place to the JSON Pointer of its parent.
    pub(crate) fn pointer(&self, parent: &str) -> String {
        let keyword = self.keyword;
        match (self.name, self.index) {
            (Some(name), _) => {
                let name = name.replace('~', "~0").replace('/', "~1");
                format!("{parent}/{keyword}/{name}")
            }
            (None, Some(index)) => format!("{parent}/{keyword}/{index}"),
            (None, None) => format!("{parent}/{keyword}"),
        }
    }
}

/// Keywords whose value is a schema or a list of schemas.
const DIRECT: [&str; 16] = [
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "items",
    "prefixItems",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "contentSchema",
];

/// Keywords whose members are schemas with names of the user.
const NAMED: [&str; 6] = [
    "properties",
    "patternProperties",
    "dependentSchemas",
    "dependencies",
    "$defs",
    "definitions",
];

/// The schemas directly inside of a schema. What only looks like one (in `default`, `const`,
/// `enum`, `examples`, in unknown keywords) is data and left out.
pub(crate) fn subschemas(schema: &JsonObject) -> impl Iterator<Item = Subschema<'_>> {
    let direct = DIRECT.iter().flat_map(|&keyword| {
        let value = schema.get(keyword);
        let list = value
            .and_then(Value::as_array)
            .map_or(&[][..], Vec::as_slice);
        let one = value.filter(|value| !value.is_array());
        let sub = move |index, schema| Subschema {
            keyword,
            name: None,
            index,
            schema,
        };
        let listed = list.iter().enumerate();
        one.map(|schema| sub(None, schema))
            .into_iter()
            .chain(listed.map(move |(index, schema)| sub(Some(index), schema)))
    });
    let named = NAMED.iter().flat_map(|&keyword| {
        let members = schema.get(keyword).and_then(Value::as_object);
        members
            .into_iter()
            .flatten()
            .map(move |(name, schema)| Subschema {
                keyword,
                name: Some(name),
                index: None,
                schema,
            })
    });
    named.chain(direct)
}

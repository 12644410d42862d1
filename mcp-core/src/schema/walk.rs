//! Subschemas, found by the keywords of JSON Schema that contain them.

use mcp_types::JsonObject;
use serde_json::Value;

/// A schema directly inside another one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subschema<'a> {
    /// The keyword that contains it.
    pub(super) keyword: &'static str,
    /// Its key, if the keyword contains a map.
    pub(super) name: Option<&'a str>,
    /// Its index, if the keyword contains a list.
    pub(super) index: Option<usize>,
    pub(super) schema: &'a Value,
}

impl Subschema<'_> {
    /// Appends its location to its parent's JSON Pointer.
    pub(super) fn pointer(&self, parent: &str) -> String {
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

/// Returns the schema that a `$ref` into the same schema names: `#`, or `#` with a JSON Pointer. References to other
/// documents, to anchors and to nothing return `None`.
///
/// A target can refer to itself: limit the steps of a walk.
///
/// # Examples
///
/// ```
/// use mcp::schema::target;
/// use mcp::types::JsonObject;
/// use serde_json::json;
///
/// let schema = json!({"$ref": "#/$defs/city", "$defs": {"city": {"type": "string"}}});
/// let schema: JsonObject = serde_json::from_value(schema)?;
/// assert_eq!(target(&schema, "#/$defs/city").unwrap()["type"], "string");
/// assert_eq!(target(&schema, "https://example.com/city"), None);
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn target<'a>(root: &'a JsonObject, reference: &str) -> Option<&'a JsonObject> {
    let pointer = reference.strip_prefix('#')?;
    let Some(pointer) = pointer.strip_prefix('/') else {
        return pointer.is_empty().then_some(root);
    };
    let (first, rest) = pointer.split_at(pointer.find('/').unwrap_or(pointer.len()));
    root.get(first)?.pointer(rest)?.as_object()
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

/// Keywords whose value is a map of schemas.
const NAMED: [&str; 6] = [
    "properties",
    "patternProperties",
    "dependentSchemas",
    "dependencies",
    "$defs",
    "definitions",
];

/// Returns the schemas directly inside a schema. Data that resembles a schema (in `default`, `const`,
/// `enum`, `examples` and unknown keywords) is skipped.
pub(super) fn subschemas(schema: &JsonObject) -> impl Iterator<Item = Subschema<'_>> {
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

/// Calls `change` with each schema directly inside a schema, except `true` and `false`.
pub(crate) fn change_subschemas(schema: &mut JsonObject, change: fn(&mut JsonObject)) {
    let direct = |keyword: &String| DIRECT.contains(&keyword.as_str());
    let named = |keyword: &String| NAMED.contains(&keyword.as_str());
    for (keyword, value) in schema.iter_mut() {
        let schemas: Vec<_> = match value {
            Value::Object(members) if named(keyword) => members.values_mut().collect(),
            Value::Array(list) if direct(keyword) => list.iter_mut().collect(),
            one if direct(keyword) => vec![one],
            _ => continue,
        };
        let schemas = schemas.into_iter().filter_map(Value::as_object_mut);
        schemas.for_each(change);
    }
}

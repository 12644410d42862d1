//! Keywords that all models read, in place of equivalent ones that some do not.
//!
//! | schemars writes | published | reason |
//! |---|---|---|
//! | `const` | `enum` with one value | Gemini models do not read `const` |
//! | `oneOf` of documented constants | `enum`, with the documentation in the description | LangChain sends no values, OpenAI's strict mode refuses it |
//! | `oneOf` | `anyOf` | OpenAI's strict mode refuses `oneOf` |
//! | `prefixItems` | `prefixItems` and `items` | OpenAI models refuse an array without `items` |

use mcp_types::JsonObject;
use serde_json::{Value, json};

/// Replaces keywords of one schema. Its subschemas are replaced already.
pub(super) fn portable(schema: &mut JsonObject) {
    if let Some(constant) = schema.get("const").filter(|value| value.is_string()) {
        let listed = json!([constant]);
        replace(schema, "const", "enum", listed);
    }
    if !schema.contains_key("anyOf")
        && let Some(alternatives) = schema.get("oneOf").cloned()
    {
        replace(schema, "oneOf", "anyOf", alternatives);
    }
    merge_constants(schema);
    if let Some(Value::Array(elements)) = schema.get("prefixItems")
        && !schema.contains_key("items")
    {
        let items = any_of(elements);
        schema.insert("items".to_owned(), items);
    }
}

/// Returns a schema that accepts what one of the schemas accepts, such as the `items` of a tuple.
pub(crate) fn any_of(schemas: &[Value]) -> Value {
    let mut different: Vec<&Value> = Vec::new();
    for schema in schemas {
        if !different.contains(&schema) {
            different.push(schema);
        }
    }
    match different.as_slice() {
        [single] => (*single).clone(),
        several => json!({"anyOf": several}),
    }
}

/// Replaces a keyword at its place.
fn replace(schema: &mut JsonObject, old: &str, new: &str, value: Value) {
    let members = std::mem::take(schema).into_iter();
    schema.extend(members.map(|(keyword, previous)| {
        if keyword == old {
            (new.to_owned(), value.clone())
        } else {
            (keyword, previous)
        }
    }));
}

/// Merges alternatives that are all constants into one `enum`. What the alternatives say about
/// themselves becomes a part of the description.
fn merge_constants(schema: &mut JsonObject) {
    if schema.contains_key("type") || schema.contains_key("enum") {
        return;
    }
    let Some(Value::Array(alternatives)) = schema.get("anyOf") else {
        return;
    };
    let constants: Option<Vec<_>> = alternatives.iter().map(constants).collect();
    let Some(constants) = constants.filter(|constants| !constants.is_empty()) else {
        return;
    };
    let mut values = Vec::new();
    let mut lines = Vec::new();
    if let Some(own) = schema.get("description").and_then(Value::as_str) {
        lines.push(own.to_owned());
    }
    for (names, description) in constants {
        if let Some(description) = description {
            let names = names.iter().filter_map(Value::as_str);
            let names: Vec<_> = names.collect();
            lines.push(format!("{}: {description}", names.join(", ")));
        }
        for name in names {
            if !values.contains(&name) {
                values.push(name);
            }
        }
    }
    let description = Value::from(lines.join("\n"));
    schema.shift_remove("anyOf");
    if !lines.is_empty() {
        // At its place, if there is one.
        schema.insert("description".to_owned(), description);
    }
    schema.insert("type".to_owned(), "string".into());
    schema.insert("enum".to_owned(), values.into());
}

/// Returns the values and the description of a schema that only lists strings.
fn constants(schema: &Value) -> Option<(Vec<Value>, Option<&str>)> {
    let schema = schema.as_object()?;
    let is_known = |keyword: &String| matches!(&**keyword, "type" | "enum" | "description");
    let values = schema.get("enum")?.as_array()?;
    let is_text = schema.get("type").is_none_or(|name| name == "string");
    (is_text && schema.keys().all(is_known) && values.iter().all(Value::is_string)).then(|| {
        let description = schema.get("description").and_then(Value::as_str);
        (values.clone(), description)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::portable;

    fn published(schema: Value) -> Value {
        let mut schema = serde_json::from_value(schema).unwrap();
        portable(&mut schema);
        Value::Object(schema)
    }

    #[test]
    fn tuple_has_items() {
        let number = json!({"type": "number"});
        let text = json!({"type": "string"});
        for (elements, items) in [
            (json!([number, number]), number.clone()),
            (
                json!([number, text, number]),
                json!({"anyOf": [number, text]}),
            ),
        ] {
            let published = published(json!({"type": "array", "prefixItems": elements}));
            assert_eq!(published["items"], items);
            assert_eq!(published["prefixItems"], elements);
        }
        let own = json!({"type": "array", "prefixItems": [number], "items": false});
        assert_eq!(published(own.clone()), own);
    }

    #[test]
    fn alternatives_become_anyof_and_constants_become_enum() {
        for (schema, expected) in [
            (
                json!({"description": "How long.", "oneOf": [
                    {"type": "string", "enum": ["forever"]},
                    {"description": "Soon.", "type": "string", "enum": ["short-term"]},
                ]}),
                json!({"description": "How long.\nshort-term: Soon.", "type": "string", "enum": ["forever", "short-term"]}),
            ),
            (
                json!({"oneOf": [{"type": "string", "enum": ["a"]}, {"type": "object"}], "title": "x"}),
                json!({"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "object"}], "title": "x"}),
            ),
            (
                json!({"oneOf": [{"enum": ["a"]}, {"enum": [1]}]}),
                json!({"anyOf": [{"enum": ["a"]}, {"enum": [1]}]}),
            ),
            (
                json!({"type": "string", "const": "a"}),
                json!({"type": "string", "enum": ["a"]}),
            ),
            (json!({"const": 1}), json!({"const": 1})),
        ] {
            assert_eq!(published(schema).to_string(), expected.to_string());
        }
    }
}

//! Output schemas of lists, options and tuples of results.

use mcp_types::JsonObject;
use serde_json::{Value, json};

use crate::schema::items_of;

/// Name in `$defs` for a schema that contains a reference to its own root.
const WHOLE: &str = "Whole";

/// Returns the schema for a list of values.
pub(super) fn array(element: JsonObject) -> JsonObject {
    let mut definitions = JsonObject::new();
    let element = inner(element, &mut definitions);
    outer(json!({"type": "array", "items": element}), definitions)
}

/// Returns the schema of a value or `null`.
pub(super) fn nullable(value: JsonObject) -> JsonObject {
    let mut definitions = JsonObject::new();
    let value = inner(value, &mut definitions);
    outer(json!({"anyOf": [value, {"type": "null"}]}), definitions)
}

/// Returns the schema for the structured content of a tuple: that of the only structured element, or an
/// array of all structured elements.
pub(super) fn tuple(elements: Vec<Option<JsonObject>>) -> Option<JsonObject> {
    let mut elements: Vec<_> = elements.into_iter().flatten().collect();
    if elements.len() < 2 {
        return elements.pop();
    }
    let mut definitions = JsonObject::new();
    let length = elements.len();
    let elements = elements.into_iter();
    let elements: Vec<_> = elements
        .map(|element| inner(element, &mut definitions))
        .collect();
    let schema = json!({
        "type": "array",
        "prefixItems": elements,
        "items": items_of(&elements),
        "minItems": length,
        "maxItems": length,
    });
    Some(outer(schema, definitions))
}

/// Moves the definitions of a schema to `definitions`, where its references find them after it has become
/// a part of another schema. A name that is taken gets a number.
fn inner(mut schema: JsonObject, definitions: &mut JsonObject) -> Value {
    let mut own = match schema.shift_remove("$defs") {
        Some(Value::Object(own)) => own,
        _ => JsonObject::new(),
    };
    if refers_to_whole(&Value::Object(schema.clone())) {
        own.insert(WHOLE.to_owned(), schema.clone().into());
    }
    let mut renamed = Vec::new();
    for name in own.keys() {
        let taken = (2..).map(|number| format!("{name}{number}"));
        let mut names = std::iter::once(name.clone()).chain(taken);
        if let Some(free) = names.find(|name| !definitions.contains_key(name)) {
            renamed.push((name.clone(), free));
        }
    }
    let mut schema = Value::Object(schema);
    rename_references(&mut schema, &renamed);
    for (name, mut definition) in own {
        rename_references(&mut definition, &renamed);
        let new = renamed.iter().find(|(old, _)| *old == name);
        definitions.insert(new.map_or(name, |(_, new)| new.clone()), definition);
    }
    schema
}

fn outer(schema: Value, definitions: JsonObject) -> JsonObject {
    let Value::Object(mut schema) = schema else {
        return JsonObject::new();
    };
    if !definitions.is_empty() {
        schema.insert("$defs".to_owned(), definitions.into());
    }
    schema
}

/// Returns whether a reference leads to the whole schema.
fn refers_to_whole(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => members
            .iter()
            .any(|(name, member)| (name == "$ref" && member == "#") || refers_to_whole(member)),
        Value::Array(elements) => elements.iter().any(refers_to_whole),
        _ => false,
    }
}

/// Replaces `#/$defs/old` by `#/$defs/new`, and `#` by the definition of the whole schema.
fn rename_references(schema: &mut Value, names: &[(String, String)]) {
    match schema {
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                match member {
                    Value::String(reference) if name == "$ref" => {
                        let old = match reference.as_str() {
                            "#" => Some(WHOLE),
                            other => other.strip_prefix("#/$defs/"),
                        };
                        let new = names.iter().find(|(name, _)| Some(&**name) == old);
                        if let Some((_, new)) = new {
                            *reference = format!("#/$defs/{new}");
                        }
                    }
                    other => rename_references(other, names),
                }
            }
        }
        Value::Array(elements) => {
            let elements = elements.iter_mut();
            elements.for_each(|element| rename_references(element, names));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use mcp_types::JsonObject;
    use serde_json::{Value, json};

    use super::{array, nullable, tuple};

    fn object(schema: Value) -> JsonObject {
        serde_json::from_value(schema).unwrap()
    }

    #[test]
    fn references_stay_valid_in_combined_schema() {
        let tree = json!({"type": "object", "properties": {"children": {"items": {"$ref": "#"}}}});
        assert_eq!(
            Value::Object(array(object(tree))),
            json!({
                "type": "array",
                "items": {"type": "object", "properties": {"children": {"items": {"$ref": "#/$defs/Whole"}}}},
                "$defs": {"Whole": {"type": "object", "properties": {"children": {"items": {"$ref": "#/$defs/Whole"}}}}},
            })
        );
        let node = |name: &str| {
            object(json!({"$ref": "#/$defs/Node", "$defs": {"Node": {"title": name}}}))
        };
        assert_eq!(
            Value::Object(tuple(vec![Some(node("a")), None, Some(node("b"))]).unwrap()),
            json!({
                "type": "array",
                "prefixItems": [{"$ref": "#/$defs/Node"}, {"$ref": "#/$defs/Node2"}],
                "items": {"anyOf": [{"$ref": "#/$defs/Node"}, {"$ref": "#/$defs/Node2"}]},
                "minItems": 2,
                "maxItems": 2,
                "$defs": {"Node": {"title": "a"}, "Node2": {"title": "b"}},
            })
        );
    }

    #[test]
    fn schema_for_an_option_accepts_null() {
        assert_eq!(
            Value::Object(nullable(object(json!({"type": "string"})))),
            json!({"anyOf": [{"type": "string"}, {"type": "null"}]})
        );
    }

    #[test]
    fn tuple_with_one_structured_element_has_its_schema() {
        let schema = object(json!({"type": "object"}));
        assert_eq!(tuple(vec![None, Some(schema.clone())]), Some(schema));
        assert_eq!(tuple(vec![None, None]), None);
    }
}

//! Output schemas of lists, options and tuples of results.

use mcp_schema::change_subschemas;
use mcp_types::JsonObject;
use serde_json::{Value, json};

use crate::schema::any_of;

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
        "items": any_of(&elements),
        "minItems": length,
        "maxItems": length,
    });
    Some(outer(schema, definitions))
}

/// Moves the definitions of a schema to `definitions`, where its references find them after it has become
/// a part of another schema. A name that is taken gets a number.
fn inner(mut schema: JsonObject, definitions: &mut JsonObject) -> Value {
    let mut refers_to_whole = false;
    change_references(&mut schema, &mut |reference| {
        refers_to_whole |= reference == "#"
    });
    let own = schema.get("$defs").and_then(Value::as_object).into_iter();
    let own = own.flat_map(JsonObject::keys);
    let own = own.map(|name| (reference_to(name), name.as_str()));
    let whole = refers_to_whole.then(|| ("#".to_owned(), WHOLE));
    let mut renamed = Vec::new();
    for (reference, name) in own.chain(whole) {
        let numbered = (2..).map(|number| format!("{name}{number}"));
        let mut names = std::iter::once(name.to_owned()).chain(numbered);
        if let Some(free) = names.find(|name| !definitions.contains_key(name)) {
            definitions.insert(free.clone(), Value::Null);
            renamed.push((reference, free));
        }
    }
    change_references(&mut schema, &mut |reference| {
        if let Some((_, name)) = renamed.iter().find(|(old, _)| old == reference) {
            *reference = reference_to(name);
        }
    });
    let mut moved = match schema.shift_remove("$defs") {
        Some(Value::Object(own)) => own.into_iter().map(|(_, definition)| definition).collect(),
        _ => Vec::new(),
    };
    moved.extend(refers_to_whole.then(|| schema.clone().into()));
    definitions.extend(renamed.into_iter().map(|(_, name)| name).zip(moved));
    schema.into()
}

fn reference_to(name: &str) -> String {
    format!("#/$defs/{name}")
}

/// Calls `change` with each reference in a schema.
fn change_references(schema: &mut JsonObject, change: &mut impl FnMut(&mut String)) {
    if let Some(Value::String(reference)) = schema.get_mut("$ref") {
        change(reference);
    }
    change_subschemas(schema, |inner| change_references(inner, change));
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

//! Structured content of tools for revisions that have objects only: each schema decides once for all
//! values, so that the listed schema accepts what the tool returns.

use mcp_schema::{Keywords as _, Node, Parts, Schema, SchemaError, Type, Walk, change_subschemas};
use mcp_types::{JsonObject, ProtocolVersion};
use serde_json::Value;

/// The JSON Pointer of the wrapped schema.
const INNER: &str = "#/properties/result";

/// Returns true if older revisions receive the tool's structured content as `{"result": …}`, because its
/// output schema accepts other values than objects.
///
/// A schema that is too large to decide also counts as one.
// spec: TOOL-14, TOOL-18
pub fn wraps_structure(output_schema: &JsonObject) -> bool {
    let kind = output_schema.get("type").and_then(Value::as_str);
    if let Some(kind) = kind.and_then(Type::named)
        && !output_schema.contains_key("nullable")
    {
        return kind != Type::Object;
    }
    // Only a schema without a single type is parsed.
    let is_object = Schema::parse(output_schema)
        .and_then(|schema| accepts_only_objects(schema.root(), &Walk::of_schema(usize::MAX), 0));
    !is_object.unwrap_or(false)
}

/// Returns the output schema that a revision with objects only has. `None` if it is the same.
// spec: TOOL-14, TOOL-18
pub(super) fn object_schema(schema: &JsonObject) -> Option<JsonObject> {
    if wraps_structure(schema) {
        return Some(wrapped(schema));
    }
    if schema.get("type").is_some_and(|kind| kind == "object") {
        return None;
    }
    let mut object = JsonObject::from_iter([("type".to_owned(), "object".into())]);
    let others = schema.iter().filter(|(keyword, _)| *keyword != "type");
    object.extend(others.map(|(keyword, value)| (keyword.clone(), value.clone())));
    Some(object)
}

/// Returns the JSON of structured content in a revision that has objects only. `None` if it is the same.
/// `is_wrapped` is the decision of the tool's output schema.
// spec: TOOL-14, TOOL-18
pub(in crate::wire) fn object_content(
    json: &str,
    is_wrapped: bool,
    to: ProtocolVersion,
) -> Option<String> {
    let is_kept = to.has_free_structure() || (!is_wrapped && json.starts_with('{'));
    (!is_kept).then(|| format!(r#"{{"result":{json}}}"#))
}

/// Returns true if a schema accepts objects only, as far as its types, listed values and alternatives tell.
fn accepts_only_objects(node: Node<'_>, walk: &Walk, nested: usize) -> Result<bool, SchemaError> {
    let parts = Parts::of(node, walk, nested)?;
    let are_objects = |values: &[Value]| values.iter().all(Value::is_object);
    let names_objects =
        |part: &Node<'_>| part.types() == [Type::Object] || part.listed().is_some_and(are_objects);
    if parts.nodes().iter().any(names_objects) {
        return Ok(true);
    }
    for part in parts.nodes() {
        for keyword in ["anyOf", "oneOf"] {
            let alternatives = part.list(keyword);
            let mut is_object = !alternatives.is_empty();
            for alternative in alternatives {
                is_object = is_object && accepts_only_objects(alternative, walk, nested + 1)?;
            }
            if is_object {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Returns the schema of `{"result": …}`.
fn wrapped(schema: &JsonObject) -> JsonObject {
    let mut inner = schema.clone();
    let dialect = inner.shift_remove("$schema");
    let mut definitions = None;
    // References are relative to a schema with an id of its own.
    if !inner.contains_key("$id") {
        definitions = inner.shift_remove("$defs");
        move_references(&mut inner);
        if let Some(Value::Object(named)) = &mut definitions {
            let named = named.values_mut().filter_map(Value::as_object_mut);
            named.for_each(move_references);
        }
    }
    let properties = JsonObject::from_iter([("result".to_owned(), inner.into())]);
    let mut outer = JsonObject::from_iter([
        ("type".to_owned(), "object".into()),
        ("properties".to_owned(), properties.into()),
        ("required".to_owned(), Value::from(vec!["result"])),
    ]);
    let kept = [("$schema", dialect), ("$defs", definitions)];
    outer.extend(
        kept.into_iter()
            .filter_map(|(keyword, value)| Some((keyword.to_owned(), value?))),
    );
    outer
}

/// Moves references to the root with it. Those into `$defs` stay, which are at the root again.
fn move_references(schema: &mut JsonObject) {
    if schema.contains_key("$id") {
        return;
    }
    for keyword in ["$ref", "$dynamicRef"] {
        if let Some(Value::String(reference)) = schema.get_mut(keyword)
            && let Some(pointer) = reference.strip_prefix('#')
            && (pointer.is_empty() || pointer.starts_with('/'))
            && !pointer.starts_with("/$defs/")
        {
            *reference = format!("{INNER}{pointer}");
        }
    }
    change_subschemas(schema, move_references);
}

#[cfg(test)]
mod tests {
    use mcp_types::JsonObject;
    use serde_json::{Value, json};

    use super::{object_schema, wraps_structure};

    fn object(value: Value) -> JsonObject {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn schema_for_objects_only_gets_the_type_and_keeps_its_values() {
        let one = json!({"type": "object", "properties": {"a": {}}});
        for schema in [
            json!({"anyOf": [one, one]}),
            json!({"oneOf": [one, {"type": ["object"]}]}),
            json!({"allOf": [{}, one]}),
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": one}}),
            json!({"anyOf": [one, {"$ref": "#/$defs/a"}], "$defs": {"a": {"oneOf": [one]}}}),
            json!({"const": {"a": 1}}),
            json!({"enum": [{"a": 1}, {}]}),
            json!({"$ref": "#/%24defs/a", "$defs": {"a": {"$ref": "#b"}, "b": {"$anchor": "b", "allOf": [one]}}}),
            json!({"$ref": "#/a~1b", "a/b": one}),
            json!({"allOf": [{"$ref": "#"}, one]}),
        ] {
            let schema = object(schema);
            assert!(!wraps_structure(&schema), "{schema:?}");
            let mut listed = object_schema(&schema).unwrap();
            assert_eq!(listed.shift_remove("type"), Some("object".into()));
            assert_eq!(listed, schema);
        }
        assert_eq!(object_schema(&object(one)), None);
    }

    #[test]
    fn schema_for_other_values_is_wrapped() {
        let one = json!({"type": "object"});
        for schema in [
            json!({}),
            json!({"type": "array"}),
            json!({"type": ["object", "null"]}),
            json!({"anyOf": [one, {"type": "null"}]}),
            json!({"anyOf": [one, true]}),
            json!({"anyOf": []}),
            json!({"allOf": [{"anyOf": [one, {}]}]}),
            json!({"properties": {"a": one}}),
            json!({"const": 1}),
            json!({"$ref": "#"}),
            json!({"$ref": "#/$defs/none"}),
            json!({"type": "object", "nullable": true}),
            json!({"anyOf": [one, {"type": "object", "nullable": true}]}),
        ] {
            let schema = object(schema);
            assert!(wraps_structure(&schema), "{schema:?}");
            let listed = object_schema(&schema).unwrap();
            assert_eq!(listed["type"], "object");
            assert_eq!(listed["required"], json!(["result"]));
        }
    }

    #[test]
    fn references_to_the_root_move_with_it() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "anyOf": [
                {"type": "integer"},
                {"type": "array", "items": {"$ref": "#"}},
                {"$ref": "#/$defs/pair"},
            ],
            "default": {"$ref": "#"},
            "$defs": {
                "pair": {"properties": {"left": {"$ref": "#/anyOf/0"}, "$ref": {"$ref": "#"}}},
                "other": {"$id": "https://example.com/other", "items": {"$ref": "#"}},
            },
        });
        let expected = json!({
            "type": "object",
            "properties": {"result": {
                "anyOf": [
                    {"type": "integer"},
                    {"type": "array", "items": {"$ref": "#/properties/result"}},
                    {"$ref": "#/$defs/pair"},
                ],
                "default": {"$ref": "#"},
            }},
            "required": ["result"],
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$defs": {
                "pair": {"properties": {
                    "left": {"$ref": "#/properties/result/anyOf/0"},
                    "$ref": {"$ref": "#/properties/result"},
                }},
                "other": {"$id": "https://example.com/other", "items": {"$ref": "#"}},
            },
        });
        assert_eq!(object_schema(&object(schema)).unwrap(), object(expected));

        let named = json!({"$id": "a:b", "items": {"$ref": "#/$defs/c"}, "$defs": {"c": {}}});
        let listed = object_schema(&object(named.clone())).unwrap();
        assert_eq!(listed["properties"]["result"], named);
    }

    /// Alternatives that branch, reference each other or are nested deeply end at the limit.
    #[test]
    fn hostile_schema_is_decided_within_the_step_limit() {
        let chain = |length: usize| {
            let next = |index: usize| json!({"$ref": format!("#/$defs/{}", index + 1)});
            let links = (0..length).map(|index| (index.to_string(), next(index)));
            let links: JsonObject = links.collect();
            json!({"$ref": "#/$defs/0", "$defs": links})
        };
        let wide = |inner: &Value| json!({"allOf": vec![inner.clone(); 100]});
        let level = wide(&wide(&json!({"$ref": "#/$defs/deep"})));
        let wide = json!({"allOf": [{"$ref": "#/$defs/deep"}], "$defs": {"deep": level}});
        let branch = json!({"anyOf": vec![json!({"$ref": "#"}); 100]});
        let long = json!({"allOf": [{"type": "object", "description": "d".repeat(300 << 10)}]});
        for schema in [chain(2_000), wide, branch, long] {
            assert!(wraps_structure(&object(schema)));
        }
    }
}

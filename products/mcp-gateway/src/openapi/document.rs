//! Document parsing. A document of 3.0 is converted to 3.1.

use oas3::Spec;
use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use super::error::OpenApiError;
use super::usable::usable;

/// Deepest nesting that is converted.
const MAX_DEPTH: usize = 64;

/// Parses a document of at most `max_bytes` in JSON or YAML. Parts that are malformed are left out.
pub(super) fn parse(text: &str, max_bytes: usize) -> Result<Spec, OpenApiError> {
    if text.len() > max_bytes {
        return Err(OpenApiError::TooLong(max_bytes));
    }
    let malformed = |error: &dyn std::fmt::Display| OpenApiError::Malformed(error.to_string());
    let text = text.trim_start_matches('\u{feff}');
    let mut document: Value = if text.trim_start().starts_with('{') {
        serde_json::from_str(text).map_err(|error| malformed(&error))?
    } else {
        serde_saphyr::from_str_with_options(text, yaml(max_bytes))
            .map_err(|error| malformed(&error))?
    };
    let version = |name| {
        document
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let (version, swagger) = (version("openapi").to_owned(), version("swagger"));
    if !version.starts_with("3.") {
        return Err(OpenApiError::Version(if swagger.is_empty() {
            format!("OpenAPI {version:?}")
        } else {
            format!("Swagger {swagger}")
        }));
    }
    // Generators write the forms of 3.0 and of draft 4 into documents of 3.1, too.
    modernize(&mut document, 0);
    let Value::Object(document) = document else {
        return Err(malformed(&"it is not an object"));
    };
    Spec::deserialize(usable(&document)).map_err(|error| malformed(&error))
}

/// Returns the rules of YAML 1.2, by which `NO`, `on`, `y`, `012` and `1_000` are text, and the limits of a
/// document of this length.
fn yaml(max_bytes: usize) -> serde_saphyr::Options {
    serde_saphyr::options! {
        strict_booleans: true,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        budget: serde_saphyr::budget! {
            max_events: max_bytes,
            max_nodes: max_bytes,
            max_total_scalar_bytes: max_bytes,
        },
    }
}

/// Converts the keywords of schemas that 3.1 writes in another way: `nullable`, and the exclusive limits.
fn modernize(value: &mut Value, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    match value {
        Value::Array(items) => items
            .iter_mut()
            .for_each(|value| modernize(value, depth + 1)),
        Value::Object(members) => {
            modernize_schema(members);
            members
                .values_mut()
                .for_each(|value| modernize(value, depth + 1));
        }
        _ => {}
    }
}

fn modernize_schema(schema: &mut Map<String, Value>) {
    if let Some(Value::Bool(nullable)) = schema.get("nullable").cloned() {
        schema.remove("nullable");
        if nullable && !schema.contains_key("type") {
            allow_null(schema);
        }
        if let (true, Some(Value::String(kind))) = (nullable, schema.get("type").cloned()) {
            schema.insert("type".into(), Value::from(vec![kind, "null".to_owned()]));
            if let Some(Value::Array(values)) = schema.get_mut("enum")
                && !values.contains(&Value::Null)
            {
                values.push(Value::Null);
            }
        }
    }
    for (exclusive, limit) in [
        ("exclusiveMinimum", "minimum"),
        ("exclusiveMaximum", "maximum"),
    ] {
        if let Some(Value::Bool(is_exclusive)) = schema.get(exclusive).cloned() {
            schema.remove(exclusive);
            if is_exclusive && let Some(number) = schema.remove(limit) {
                schema.insert(exclusive.into(), number);
            }
        }
    }
}

/// Adds `null` to the alternatives of a schema without a type.
fn allow_null(schema: &mut Map<String, Value>) {
    let null = json!({"type": "null"});
    for keyword in ["anyOf", "oneOf"] {
        if let Some(Value::Array(alternatives)) = schema.get_mut(keyword) {
            alternatives.push(null);
            return;
        }
    }
    if let Some(all) = schema.remove("allOf") {
        let alternatives = vec![json!({ "allOf": all }), null];
        schema.insert("anyOf".into(), alternatives.into());
    }
}

#[cfg(test)]
mod tests {
    use oas3::Spec;
    use serde_json::{Value, json};

    use super::{OpenApiError, modernize, parse};

    #[test]
    fn schemas_from_3_0_are_converted_to_3_1() {
        let mut schema = json!({"a": {
            "type": "integer", "nullable": true, "minimum": 3, "exclusiveMinimum": true,
            "maximum": 9, "exclusiveMaximum": false,
        }, "b": {"nullable": true, "allOf": [{}]}, "c": {"nullable": true, "oneOf": [{}]}});
        modernize(&mut schema, 0);
        let expected = json!({"a": {
            "type": ["integer", "null"], "exclusiveMinimum": 3, "maximum": 9,
        }, "b": {"anyOf": [{"allOf": [{}]}, {"type": "null"}]}, "c": {"oneOf": [{}, {"type": "null"}]}});
        assert_eq!(schema, expected);
    }

    #[test]
    fn other_versions_and_other_texts_are_refused() {
        let parse = |text: &str| parse(text, 1000);
        let refused = parse(r#"{"swagger": "2.0"}"#).unwrap_err();
        assert_eq!(refused, OpenApiError::Version("Swagger 2.0".to_owned()));
        assert!(
            refused
                .to_string()
                .starts_with("Swagger 2.0 is not supported")
        );
        assert!(matches!(parse("{"), Err(OpenApiError::Malformed(_))));
        assert!(matches!(
            parse(&" ".repeat(1001)),
            Err(OpenApiError::TooLong(1000))
        ));
        let yaml = "openapi: 3.1.0\ninfo: {title: a, version: '1'}\npaths: {}\n";
        assert_eq!(parse(yaml).unwrap().info.title, "a");
    }

    fn spec(document: &Value) -> Spec {
        parse(&document.to_string(), 1 << 20).unwrap()
    }

    fn with_schema(schema: &Value) -> Value {
        json!({"openapi": "3.1.0", "info": {"title": "a"}, "paths": {
            "/good": {"get": {"responses": {}}},
            "/bad": {"get": {"parameters": 7, "responses": {}}, "post": {"responses": {}}},
            "/text": "none",
        }, "components": {"schemas": {"good": {"type": "string"}, "odd": schema}}})
    }

    #[test]
    fn malformed_parts_take_no_others_with_them() {
        let spec = spec(&with_schema(&json!({
            "type": "object", "required": "a",
            "properties": {"b": {"type": "money", "description": "B"}, "c": {"minLength": "1", "type": "string"}},
        })));
        assert_eq!(spec.info.version, "0");
        let operations: Vec<_> = spec
            .operations()
            .map(|(path, method, _)| (path, method))
            .collect();
        let expected = [("/good", http::Method::GET), ("/bad", http::Method::POST)];
        assert_eq!(
            operations,
            expected.map(|(path, method)| (path.to_owned(), method))
        );
        let schemas = &spec.components.unwrap().schemas;
        let odd = serde_json::to_value(&schemas["odd"]).unwrap();
        let properties = json!({"b": {"description": "B"}, "c": {"type": "string"}});
        assert_eq!(odd, json!({"type": "object", "properties": properties}));
        assert!(schemas.contains_key("good"));
    }

    #[test]
    fn draft_4_limits_are_converted_in_every_version() {
        let schema = json!({"type": "integer", "minimum": 1, "exclusiveMinimum": true});
        let spec = spec(&with_schema(&schema));
        let odd = serde_json::to_value(&spec.components.unwrap().schemas["odd"]).unwrap();
        assert_eq!(odd["exclusiveMinimum"].as_f64(), Some(1.0), "{odd}");
    }

    #[test]
    fn references_to_path_items_are_followed() {
        let spec = spec(
            &json!({"openapi": "3.1.0", "info": {"title": "a", "version": "1"}, "paths": {
            "/a": {"$ref": "#/components/pathItems/item", "description": "own"},
            "/b": {"$ref": "#/paths/~1a"},
            "/loop": {"$ref": "#/paths/~1loop"},
        }, "components": {"pathItems": {"item": {"get": {"operationId": "x", "responses": {}}}}}}),
        );
        let mut paths: Vec<_> = spec.operations().map(|(path, ..)| path).collect();
        paths.sort();
        assert_eq!(paths, ["/a", "/b"]);
    }

    #[test]
    fn yaml_is_read_as_version_1_2() {
        let yaml = "openapi: 3.0.3\ninfo: {title: NO, version: 1.0}\npaths: {}\ncomponents:\n  schemas:\n    \
                    y:\n      type: string\n      enum: [NO, on, y, 012, 1_000, true, 12]\n";
        let spec = parse(yaml, 1000).unwrap();
        assert_eq!(spec.info.title, "NO");
        let schema = serde_json::to_value(&spec.components.unwrap().schemas["y"]).unwrap();
        let expected = json!(["NO", "on", "y", "012", "1_000", true, 12]);
        assert_eq!(schema["enum"], expected);
    }

    proptest::proptest! {
        #[test]
        fn any_malformed_schema_is_repaired(schema in value()) {
            let spec = spec(&with_schema(&schema));
            assert_eq!(spec.operations().count(), 2);
            assert!(spec.components.unwrap().schemas.contains_key("good"));
        }
    }

    /// Generates JSON with the keywords of schemas.
    fn value() -> impl proptest::strategy::Strategy<Value = Value> {
        use proptest::prelude::*;
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-3i64..3).prop_map(Value::from),
            prop_oneof![Just("string"), Just("x"), Just("#/components/schemas/good")]
                .prop_map(Value::from),
        ];
        let keywords = [
            "type",
            "$ref",
            "properties",
            "items",
            "anyOf",
            "required",
            "enum",
            "minimum",
            "x",
            "title",
        ];
        leaf.prop_recursive(4, 24, 4, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::vec((prop::sample::select(keywords.to_vec()), inner), 0..4)
                    .prop_map(|members| {
                        members
                            .into_iter()
                            .map(|(key, value)| (key.to_owned(), value))
                            .collect::<serde_json::Map<_, _>>()
                            .into()
                    }),
            ]
        })
    }
}

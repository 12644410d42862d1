//! Tests of published schemas.

use schemars::JsonSchema;
use serde_json::{Value, json};

use super::{of_arguments, of_output};

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only the schema is used")]
struct Order {
    /// The article
    article: u32,
    note: Option<String>,
    lines: Vec<Line>,
    #[schemars(default)]
    format: String,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only the schema is used")]
struct Line {
    price: f64,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only the schema is used")]
struct Tree {
    children: Vec<Self>,
}

#[test]
fn struct_schema_is_inlined_without_rust_formats() {
    assert_eq!(
        schema_of::<Order>(),
        json!({
            "type": "object",
            "properties": {
                "article": {"description": "The article", "type": "integer", "minimum": 0},
                "note": {"type": "string"},
                "lines": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"price": {"type": "number"}},
                        "required": ["price"],
                    },
                },
                "format": {"type": "string", "default": ""},
            },
            "required": ["article", "lines"],
        })
    );
}

#[test]
fn output_schema_requires_fields_with_defaults() {
    let required = of_output::<Order>()["required"].clone();
    assert_eq!(required, json!(["article", "note", "lines", "format"]));
}

#[test]
fn recursive_type_has_references() {
    let schema = schema_of::<Tree>().to_string();
    assert!(schema.contains("\"$ref\""), "{schema}");
}

fn schema_of<T: JsonSchema>() -> Value {
    let described = of_arguments::<T>();
    assert_eq!(described.problem, None);
    described.schema.into()
}

#[derive(JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
#[expect(dead_code, reason = "only the schema is used")]
enum Shape {
    /// Round
    Circle {
        radius: f64,
        name: String,
    },
    Square {
        /// Length of each side
        side: f64,
        name: String,
    },
    Point {
        name: u8,
    },
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only the schema is used")]
struct Drawn {
    color: String,
    #[serde(flatten)]
    shape: Shape,
}

// spec: TOOL-06
#[test]
fn enum_at_root_becomes_one_object() {
    assert_eq!(
        schema_of::<Shape>(),
        json!({
            "type": "object",
            "properties": {
                "kind": {"type": "string", "enum": ["circle", "square", "point"]},
                "radius": {"type": "number"},
                "name": {"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 0, "maximum": 255}]},
                "side": {"type": "number", "description": "Length of each side"},
            },
            "required": ["kind", "name"],
            "additionalProperties": false,
        })
    );
    let drawn = schema_of::<Drawn>();
    assert_eq!(drawn.get("oneOf"), None);
    assert_eq!(drawn["required"], json!(["color", "kind", "name"]));
    let names: Vec<_> = drawn["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["color", "kind", "radius", "name", "side"]);
}

// spec: TOOL-06, TOOL-07
#[test]
fn root_is_object_with_properties_or_a_problem() {
    for schema in [
        schema_of::<Value>(),
        schema_of::<serde_json::Map<String, Value>>(),
        schema_of::<std::collections::BTreeMap<String, u8>>(),
    ] {
        let keys: Vec<_> = schema.as_object().unwrap().keys().take(2).collect();
        assert_eq!(keys, ["type", "properties"], "{schema}");
        assert_eq!(schema["type"], "object");
    }
    for problem in [
        of_arguments::<String>().problem,
        of_arguments::<Vec<u8>>().problem,
        of_arguments::<Option<Order>>().problem,
    ] {
        let text = problem.unwrap();
        assert!(text.starts_with("arguments are an object"), "{text}");
    }
}

#[test]
fn types_without_bounds_have_no_constraints() {
    assert!(of_arguments::<Order>().constraints.is_none());
    assert!(of_arguments::<Tree>().constraints.is_none());
    assert!(of_arguments::<Shape>().constraints.is_none());
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only the schema is used")]
struct Repeated {
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: Option<String>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only the schema is used")]
struct Optional {
    /// Degree of urgency
    level: Option<Level>,
    inner: Option<Line>,
    #[schemars(default)]
    list: Option<Vec<Option<u8>>>,
    #[schemars(required)]
    present: Option<bool>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only the schema is used")]
enum Level {
    /// Not urgent
    Low,
    High,
}

#[test]
fn optional_property_lists_no_null() {
    assert_eq!(
        schema_of::<Optional>(),
        json!({
            "type": "object",
            "properties": {
                "level": {
                    "description": "Degree of urgency\nLow: Not urgent",
                    "type": "string",
                    "enum": ["High", "Low"],
                },
                "inner": {
                    "type": "object",
                    "properties": {"price": {"type": "number"}},
                    "required": ["price"],
                },
                "list": {
                    "type": "array",
                    "items": {"type": ["integer", "null"], "minimum": 0, "maximum": 255},
                },
                "present": {"type": "boolean"},
            },
            "required": ["present"],
        })
    );
}

// spec: XHDR-06
#[test]
fn optional_property_in_header_has_no_null_type() {
    assert_eq!(
        schema_of::<Repeated>()["properties"]["region"],
        json!({"type": "string", "x-mcp-header": "Region"})
    );
}

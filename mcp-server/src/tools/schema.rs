//! JSON Schemas of Rust types, in the form that clients take.

use mcp_types::JsonObject;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// The schema of what `T` is read from: 2020-12, without references unless `T` contains itself.
// spec: JSCH-01, JSCH-04
pub(crate) fn of_input<T: JsonSchema>() -> JsonObject {
    tidy(generator().into_root_schema_for::<T>())
}

/// The schema of what `T` is written as: a member that is always written is required.
// spec: TOOL-16
pub(crate) fn of_output<T: JsonSchema>() -> JsonObject {
    tidy(
        settings()
            .for_serialize()
            .into_generator()
            .into_root_schema_for::<T>(),
    )
}

/// A generator for schemas of inputs.
pub(crate) fn generator() -> SchemaGenerator {
    settings().into_generator()
}

fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    })
}

/// A schema as an object, without what only costs tokens: the name of a Rust type, the width of a
/// Rust number.
pub(crate) fn tidy(schema: Schema) -> JsonObject {
    let mut root = object(schema);
    root.shift_remove("title");
    visit(&mut root);
    root
}

/// A schema as an object.
pub(crate) fn object(schema: Schema) -> JsonObject {
    match schema.to_value() {
        Value::Object(object) => object,
        // `true` and `false` are schemas, too.
        Value::Bool(true) => JsonObject::new(),
        _ => JsonObject::from_iter([("not".to_owned(), JsonObject::new().into())]),
    }
}

/// Formats that mean a Rust type and nothing to a client.
const RUST_FORMATS: [&str; 14] = [
    "int8", "int16", "int32", "int64", "int128", "int", "uint8", "uint16", "uint32", "uint64",
    "uint128", "uint", "float", "double",
];

fn visit(schema: &mut JsonObject) {
    let rust = |value: &Value| {
        value
            .as_str()
            .is_some_and(|name| RUST_FORMATS.contains(&name))
    };
    if schema.get("format").is_some_and(rust) {
        schema.shift_remove("format");
    }
    for (key, value) in schema.iter_mut() {
        match (key.as_str(), value) {
            // Members here are names of the user, not keywords.
            (
                "properties" | "$defs" | "patternProperties" | "dependentSchemas",
                Value::Object(named),
            ) => {
                named.values_mut().for_each(visit_value);
            }
            ("default" | "const" | "enum" | "examples", _) => {}
            (_, value) => visit_value(value),
        }
    }
}

fn visit_value(value: &mut Value) {
    match value {
        Value::Object(schema) => visit(schema),
        Value::Array(schemas) => schemas.iter_mut().for_each(visit_value),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde_json::{Value, json};

    use super::{of_input, of_output};

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Order {
        /// Which article
        article: u32,
        note: Option<String>,
        lines: Vec<Line>,
        #[schemars(default)]
        format: String,
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Line {
        price: f64,
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Tree {
        children: Vec<Self>,
    }

    #[test]
    fn plain_and_inlined() {
        assert_eq!(
            Value::Object(of_input::<Order>()),
            json!({
                "type": "object",
                "properties": {
                    "article": {"description": "Which article", "type": "integer", "minimum": 0},
                    "note": {"type": ["string", "null"]},
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
    fn what_is_written_may_be_stricter_than_what_is_read() {
        let required = of_output::<Order>()["required"].clone();
        assert_eq!(required, json!(["article", "note", "lines", "format"]));
    }

    #[test]
    fn only_recursion_has_references() {
        let schema = Value::Object(of_input::<Tree>()).to_string();
        assert!(schema.contains("\"$ref\""), "{schema}");
    }
}

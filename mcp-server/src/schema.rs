//! JSON Schemas of Rust types, in the form that clients take.

mod flatten;

use mcp_core::PARAM_HEADER;
use mcp_types::JsonObject;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use crate::constraints::Constraints;

/// What the schema of a Rust type gives: what is published, and what is checked beside it.
#[derive(Debug)]
pub(crate) struct Described {
    pub(crate) schema: JsonObject,
    pub(crate) constraints: Option<Constraints>,
    /// Why it cannot be the schema of arguments.
    pub(crate) problem: Option<String>,
}

/// The schema of arguments that `T` is read from: 2020-12, an object without references (unless `T`
/// contains itself) and without alternatives at its root.
// spec: JSCH-01, JSCH-04
pub(crate) fn of_input<T: JsonSchema>() -> Described {
    let mut root = object(generator().into_root_schema_for::<T>());
    // What is checked is looked up before the schema is made plainer.
    let constraints = Constraints::of(&root);
    flatten::flatten(&mut root);
    let mut described = described(root, constraints);
    if described.problem.is_some() {
        let name = T::schema_name();
        described.problem = Some(format!(
            "arguments are an object, and `{name}` is none; take them as a struct with named fields"
        ));
    }
    described
}

/// What the schema of arguments gives that were named one by one.
pub(crate) fn describe(root: JsonObject) -> Described {
    let constraints = Constraints::of(&root);
    described(root, constraints)
}

// spec: TOOL-06
fn described(root: JsonObject, constraints: Option<Constraints>) -> Described {
    let is_object = match root.get("type") {
        Some(kind) => kind == "object",
        None => !root.contains_key("$ref") && !root.contains_key("not"),
    };
    Described {
        schema: tidy(with_properties(root)),
        constraints,
        problem: (!is_object).then(String::new),
    }
}

/// The schema of what `T` is written as: a member that is always written is required.
// spec: TOOL-16
pub(crate) fn of_output<T: JsonSchema>() -> JsonObject {
    let generator = settings().for_serialize().into_generator();
    tidy(object(generator.into_root_schema_for::<T>()))
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

/// An object says that it is one and what it has, before all else.
fn with_properties(mut root: JsonObject) -> JsonObject {
    let mut schema = JsonObject::new();
    let kind = root.shift_remove("type");
    schema.insert("type".to_owned(), kind.unwrap_or_else(|| "object".into()));
    let properties = root.shift_remove("properties");
    schema.insert(
        "properties".to_owned(),
        properties.unwrap_or_else(|| JsonObject::new().into()),
    );
    schema.extend(root);
    schema
}

/// A schema without what only costs tokens: the name of a Rust type, the width of a Rust number.
fn tidy(mut root: JsonObject) -> JsonObject {
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
    if schema.contains_key(PARAM_HEADER) {
        without_null(schema);
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

/// A property that a header repeats and that may be left out is no union with `null`, which no header
/// can repeat.
// spec: XHDR-06
fn without_null(schema: &mut JsonObject) {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
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
mod tests;

//! Schema generation from Rust types.

use mcp_core::PARAM_HEADER;
use mcp_schema::{SchemaError, change_subschemas};
use mcp_types::JsonObject;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::dropped::{DroppedArguments, decode};
use super::flatten::flatten;
use super::optional::{omit_null, remove_null};
use super::portable::portable;
use crate::constraints::Constraints;

/// The published schema of a handler's arguments and the constraints that are checked per call.
#[derive(Debug)]
pub(crate) struct ArgumentSchema {
    pub(crate) schema: JsonObject,
    pub(crate) constraints: Option<Constraints>,
    /// Arguments that are checked before decoding.
    pub(crate) dropped: Option<DroppedArguments>,
    /// The reason why it cannot be a schema of arguments.
    pub(crate) problem: Option<String>,
}

impl ArgumentSchema {
    /// The published schema of an object, and what is checked in addition to decoding.
    // spec: TOOL-06
    pub(crate) fn new(
        root: JsonObject,
        constraints: Result<Option<Constraints>, SchemaError>,
        dropped: Option<DroppedArguments>,
    ) -> Self {
        let mut root = type_and_properties_first(root);
        omit_null(&mut root);
        let problem = constraints.as_ref().err();
        Self {
            schema: clean(root),
            problem: problem.map(|error| format!("the schema of its arguments: {error}")),
            constraints: constraints.unwrap_or_default(),
            dropped,
        }
    }
}

/// Returns the schema of arguments that are decoded into `T`: draft 2020-12, an object without
/// references (unless `T` contains itself) and without alternatives at its root.
pub(crate) fn of_arguments<T: JsonSchema>() -> ArgumentSchema {
    described::<T>(|_| None)
}

/// Returns the schema of arguments, and those whose wrong values `T` drops.
pub(crate) fn of_decoded_arguments<T: DeserializeOwned + JsonSchema>() -> ArgumentSchema {
    described::<T>(|root| DroppedArguments::of_type(root, decode::<T>))
}

fn described<T: JsonSchema>(
    dropped: fn(&JsonObject) -> Option<DroppedArguments>,
) -> ArgumentSchema {
    let mut root = into_object(generator().into_root_schema_for::<T>());
    // Flattening removes keywords that are checked, so the constraints are compiled before.
    let constraints = Constraints::from_schema(&root);
    flatten(&mut root);
    let is_object = match root.get("type") {
        Some(name) => name == "object",
        None => !root.contains_key("$ref") && !root.contains_key("not"),
    };
    let dropped = dropped(&root);
    let mut arguments = ArgumentSchema::new(root, constraints, dropped);
    if !is_object {
        let name = T::schema_name();
        arguments.problem = Some(format!(
            "arguments are an object, and `{name}` is none; take them as a struct with named fields"
        ));
    }
    arguments
}

/// Returns the schema of `T` as it is serialized: fields that are always written are required.
// spec: TOOL-16
pub(crate) fn of_output<T: JsonSchema>() -> JsonObject {
    let mut generator = settings().for_serialize().into_generator();
    // A title that the type sets itself, other than the name that each root schema gets. It stays, because the schema may
    // become a list's items, whose type clients name after it.
    let title = T::json_schema(&mut generator).remove("title");
    let mut schema = clean(into_object(generator.into_root_schema_for::<T>()));
    schema.extend(title.map(|title| ("title".to_owned(), title)));
    schema
}

/// Returns a generator for argument schemas.
pub(crate) fn generator() -> SchemaGenerator {
    settings().into_generator()
}

fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    })
}

/// Converts a schema into an object; schemas may also be `true` or `false`.
pub(crate) fn into_object(schema: Schema) -> JsonObject {
    match schema.to_value() {
        Value::Object(object) => object,
        Value::Bool(true) => JsonObject::new(),
        _ => JsonObject::from_iter([("not".to_owned(), JsonObject::new().into())]),
    }
}

/// Moves `type` and `properties` to the front and adds them where they are missing: some clients
/// reject tools without them.
fn type_and_properties_first(mut root: JsonObject) -> JsonObject {
    let mut schema = JsonObject::new();
    let name = root.shift_remove("type");
    schema.insert("type".to_owned(), name.unwrap_or_else(|| "object".into()));
    let properties = root.shift_remove("properties");
    let properties = properties.unwrap_or_else(|| JsonObject::new().into());
    schema.insert("properties".to_owned(), properties);
    schema.extend(root);
    schema
}

/// Removes keywords that only cost tokens: a Rust type's name, a Rust number's width. Replaces
/// keywords that models do not read.
fn clean(mut root: JsonObject) -> JsonObject {
    root.shift_remove("title");
    clean_object(&mut root);
    root
}

/// Values of `format` that schemars derives from Rust number types.
const RUST_FORMATS: [&str; 14] = [
    "int8", "int16", "int32", "int64", "int128", "int", "uint8", "uint16", "uint32", "uint64",
    "uint128", "uint", "float", "double",
];

fn clean_object(schema: &mut JsonObject) {
    let format = schema.get("format").and_then(Value::as_str);
    if format.is_some_and(|format| RUST_FORMATS.contains(&format)) {
        schema.shift_remove("format");
    }
    // A header cannot contain `null`.
    // spec: XHDR-06
    if schema.contains_key(PARAM_HEADER) {
        remove_null(schema);
    }
    change_subschemas(schema, clean_object);
    portable(schema);
}

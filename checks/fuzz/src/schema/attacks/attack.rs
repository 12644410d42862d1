//! [`Attack`], and the parts of hostile schemas.

use mcp_types::JsonObject;
use serde_json::{Value, json};

/// A hostile schema, and arguments for it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Attack {
    /// The kind.
    pub name: String,
    /// The input schema of a tool.
    pub schema: JsonObject,
    /// The arguments of a call.
    pub arguments: Value,
}

impl Attack {
    /// Creates an attack.
    pub fn new(name: impl Into<String>, schema: JsonObject, arguments: Value) -> Self {
        Self {
            name: name.into(),
            schema,
            arguments,
        }
    }
}

/// An attack on whatever follows the paths of a schema: the arguments are nested members `a`, with a value of a wrong type.
pub(super) fn attack(name: impl Into<String>, schema: Value) -> Attack {
    let arguments = (0..12).fold(json!({"a": [7]}), |inner, _| json!({"a": inner, "b": "x"}));
    with_arguments(name, schema, arguments)
}

pub(super) fn with_arguments(name: impl Into<String>, schema: Value, arguments: Value) -> Attack {
    match schema {
        Value::Object(schema) => Attack::new(name, schema, arguments),
        other => panic!("{other} is not an object"),
    }
}

/// A schema with a property `a`, and definitions.
pub(super) fn with_a(property: Value, definitions: Value) -> Value {
    json!({"type": "object", "properties": {"a": property}, "$defs": definitions})
}

/// Definitions `d0`, `d1`, …
pub(super) fn defs(count: usize, definition: impl Fn(usize) -> Value) -> Value {
    let defs = (0..count).map(|number| (format!("d{number}"), definition(number)));
    Value::Object(defs.collect())
}

pub(super) fn reference(number: usize) -> Value {
    json!({"$ref": format!("#/$defs/d{number}")})
}

/// Definitions, each made of the reference to the next one. The last one is a string.
pub(super) fn row(count: usize, part: impl Fn(Value) -> Value) -> Value {
    let defs = defs(count, |number| match number + 1 {
        next if next < count => part(reference(next)),
        _ => json!({"type": "string"}),
    });
    with_a(reference(0), defs)
}

/// A schema inside `levels` others.
pub(super) fn nested(levels: usize, inner: Value, outer: impl Fn(Value) -> Value) -> Value {
    (0..levels).fold(inner, |inner, _| outer(inner))
}

//! Decoding of arguments that may be any JSON: those of tools.

use mcp_core::deserialize::{self, DeserializeError};
use mcp_types::{JsonObject, RawJson, RawObject, without_position};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::reason::plain_reason;
use crate::constraints::ArgumentFormat;
use crate::rejection::ArgumentError;
use crate::schema::{InputSchema, explain, repair, repair_value};

/// Decodes arguments into `T`.
///
/// # Errors
///
/// Returns an [`ArgumentError`] with the path of the value that does not match.
pub(super) fn parse<T: DeserializeOwned>(arguments: &RawObject) -> Result<T, ArgumentError> {
    deserialize::from_str(arguments.as_str()).map_err(|error| argument_error("", &error))
}

/// Decodes arguments into `T`, whose schema is `schema`. Where the schema asks for an integer, numbers
/// such as `5.0` are accepted; `null` and `""` count as absent where they are none of the types. Valid arguments are decoded in one pass.
///
/// # Errors
///
/// Returns an [`ArgumentError`] with all mistakes.
pub(super) fn parse_described<T: DeserializeOwned>(
    arguments: &RawObject,
    schema: impl FnOnce() -> InputSchema,
) -> Result<T, ArgumentError> {
    deserialize::from_str(arguments.as_str()).or_else(|error| {
        let schema = schema();
        let repaired = repair(arguments, &schema);
        // The repaired arguments have the mistakes that matter: those of absent values are missing names.
        let (arguments, error) = match &repaired {
            None => (arguments, error),
            Some(repaired) => match deserialize::from_str(repaired.as_str()) {
                Ok(value) => return Ok(value),
                Err(error) => (repaired, error),
            },
        };
        let error = argument_error("", &error);
        Err(explain(error, &schema, arguments, ArgumentFormat::Json))
    })
}

/// Decodes the value of one argument. If this fails, the value is repaired by `schema`, the schema of all arguments.
/// Returns `None` for a value that counts as absent then.
///
/// # Errors
///
/// Returns an [`ArgumentError`] whose path starts with `name`.
pub(super) fn parse_one<T: DeserializeOwned>(
    name: &str,
    value: RawJson<'_>,
    schema: Option<&InputSchema>,
) -> Result<Option<T>, ArgumentError> {
    let error = match deserialize::from_str(value.as_str()) {
        Ok(decoded) => return Ok(Some(decoded)),
        Err(error) => argument_error(name, &error),
    };
    let repair = |schema| {
        let own = (name.to_owned(), value.read().ok()?);
        let mut arguments = Value::from(JsonObject::from_iter([own]));
        repair_value(&mut arguments, schema).then_some(arguments)
    };
    let Some(mut repaired) = schema.and_then(repair) else {
        return Err(error);
    };
    let decoded = repaired.get_mut(name).map(Value::take);
    let decoded = decoded.map(serde_json::from_value).transpose();
    decoded.map_err(|_| error)
}

fn argument_error(name: &str, error: &DeserializeError) -> ArgumentError {
    let path = join_path(name, &error.path);
    ArgumentError::new(path, plain_reason(&without_position(&error.error)))
}

/// Returns the path of a value inside the argument `name`.
pub(super) fn join_path(name: &str, inner: &str) -> String {
    match inner {
        "" => name.to_owned(),
        _ if name.is_empty() => inner.to_owned(),
        index if index.starts_with('[') => format!("{name}{index}"),
        member => format!("{name}.{member}"),
    }
}

//! Decoding of arguments that may be any JSON: those of tools.

use mcp_core::deserialize::{self, DeserializeError};
use mcp_types::{JsonObject, RawJson, RawObject, without_position};
use serde::de::DeserializeOwned;

use super::reason::plain_reason;
use crate::constraints::ArgumentFormat;
use crate::rejection::ArgumentError;
use crate::schema::{explain, repair, repair_in};

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
    schema: impl FnOnce() -> JsonObject,
) -> Result<T, ArgumentError> {
    deserialize::from_str(arguments.as_str()).or_else(|error| {
        let schema = schema();
        let repaired = repair(arguments, &schema);
        let repaired = repaired.and_then(|value| RawObject::from_value(&value).ok());
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

/// Decodes one argument into `T`. `schema` describes all arguments; where it asks for an integer, numbers
/// such as `5.0` are accepted.
///
/// # Errors
///
/// Returns an [`ArgumentError`] whose path starts with `name`.
pub(super) fn parse_one<T: DeserializeOwned>(
    name: &str,
    value: RawJson<'_>,
    schema: Option<&JsonObject>,
) -> Result<T, ArgumentError> {
    deserialize::from_str(value.as_str()).or_else(|error| {
        let convert = |schema| {
            let value = value.read().ok()?;
            let converted = repair_in(name, value, schema)?;
            serde_json::from_value(converted).ok()
        };
        let converted = schema.and_then(convert);
        converted.ok_or_else(|| argument_error(name, &error))
    })
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

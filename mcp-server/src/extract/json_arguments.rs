//! Decoding of arguments that may be any JSON: those of tools.

use mcp_core::deserialize;
use mcp_types::{RawJson, RawObject, without_position};
use serde::de::DeserializeOwned;

use crate::rejection::ArgumentError;

/// Decodes arguments into `T`.
///
/// # Errors
///
/// Returns an [`ArgumentError`] with the path of the value that does not match.
pub(super) fn parse<T: DeserializeOwned>(arguments: &RawObject) -> Result<T, ArgumentError> {
    parse_one("", arguments.as_raw())
}

/// Decodes one argument into `T`.
///
/// # Errors
///
/// Returns an [`ArgumentError`] whose path starts with `name`.
pub(super) fn parse_one<T: DeserializeOwned>(
    name: &str,
    value: RawJson<'_>,
) -> Result<T, ArgumentError> {
    deserialize::from_str(value.as_str()).map_err(|error| {
        let path = join_path(name, error.path);
        ArgumentError::new(path, without_position(&error.error))
    })
}

/// Returns the path of a value inside of the argument `name`.
pub(super) fn join_path(name: &str, inner: String) -> String {
    match inner.as_str() {
        "" => name.to_owned(),
        _ if name.is_empty() => inner,
        index if index.starts_with('[') => format!("{name}{index}"),
        member => format!("{name}.{member}"),
    }
}

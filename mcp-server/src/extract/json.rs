//! Arguments that are any JSON (of tools), as typed values.

use mcp_core::deserialize;
use mcp_types::{RawJson, RawObject};
use serde::de::DeserializeOwned;

use crate::rejection::ArgumentError;

/// Reads arguments as `T`.
///
/// # Errors
///
/// [`ArgumentError`] with the path of what does not fit.
pub(super) fn parse<T: DeserializeOwned>(arguments: &RawObject) -> Result<T, ArgumentError> {
    parse_member("", arguments.as_raw())
}

/// Reads one argument as `T`; the path of what does not fit starts with its name.
///
/// # Errors
///
/// [`ArgumentError`] with that path.
pub(super) fn parse_member<T: DeserializeOwned>(
    name: &str,
    value: RawJson<'_>,
) -> Result<T, ArgumentError> {
    deserialize::from_str(value.as_str()).map_err(|error| {
        let path = join(name, error.path);
        ArgumentError::new(path, reason(&error.error))
    })
}

/// The path of a value within the argument of a name.
pub(super) fn join(name: &str, inner: String) -> String {
    match inner.as_str() {
        "" => name.to_owned(),
        _ if name.is_empty() => inner,
        within if within.starts_with('[') => format!("{name}{within}"),
        within => format!("{name}.{within}"),
    }
}

/// What `serde_json` says, without its place in a text that nobody sees.
pub(super) fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}

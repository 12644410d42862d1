//! Arguments that are any JSON (of tools), as typed values.

use mcp_types::RawObject;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

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
    value: &RawValue,
) -> Result<T, ArgumentError> {
    serde_json::from_str(value.get()).map_err(|error| locate::<T>(name, value, &error))
}

/// Reads a value that does not fit again, this time keeping track of the path.
#[cold]
fn locate<T: DeserializeOwned>(
    name: &str,
    value: &RawValue,
    error: &serde_json::Error,
) -> ArgumentError {
    let mut again = serde_json::Deserializer::from_str(value.get());
    let Err(located) = serde_path_to_error::deserialize::<_, T>(&mut again) else {
        return ArgumentError::new(name.to_owned(), reason(error));
    };
    let path = match located.path().to_string().as_str() {
        "." => name.to_owned(),
        inner if name.is_empty() || inner.starts_with('[') => format!("{name}{inner}"),
        inner => format!("{name}.{inner}"),
    };
    ArgumentError::new(path, reason(located.inner()))
}

/// What `serde_json` says, without its place in a text that nobody sees.
pub(super) fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}

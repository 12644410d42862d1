//! Helpers for `deserialize_with` attributes and for hand-written `Deserialize` implementations.

use std::borrow::Cow;

use serde::de::{Deserialize, Deserializer};

/// A JSON string, borrowed from the input unless it contains escapes.
#[derive(serde::Deserialize)]
#[serde(transparent)]
pub(crate) struct Str<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

/// Deserializes a value and replaces `null` by the default value.
pub(crate) fn null_to_default<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Deserialize<'de> + Default,
    D: Deserializer<'de>,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Deserializes a member that is present. `null` becomes `Some` of the JSON value `null`.
pub(crate) fn present<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    T::deserialize(deserializer).map(Some)
}

/// Returns the message of an error without its line and column: the reader does not know the text that
/// they refer to.
pub fn without_position(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    message
        .strip_suffix(&position)
        .unwrap_or(&message)
        .to_owned()
}

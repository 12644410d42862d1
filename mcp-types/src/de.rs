//! Helpers for `deserialize_with` attributes and for hand-written `Deserialize` implementations.

use std::borrow::Cow;
use std::fmt::{self, Display};

use serde::de::{self, Deserialize, Deserializer, Visitor};

/// A JSON string, borrowed from the input unless it contains escapes.
#[derive(serde::Deserialize)]
#[serde(transparent)]
pub(crate) struct Str<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

/// Parses a JSON string. An error of `parse` is at the string, not at the object around it.
pub(crate) fn parse_str<'de, T, E: Display, D: Deserializer<'de>>(
    deserializer: D,
    parse: fn(&str) -> Result<T, E>,
) -> Result<T, D::Error> {
    deserializer.deserialize_str(StrVisitor(parse))
}

struct StrVisitor<T, E>(fn(&str) -> Result<T, E>);

impl<T, E: Display> Visitor<'_> for StrVisitor<T, E> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<Error: de::Error>(self, text: &str) -> Result<T, Error> {
        (self.0)(text).map_err(Error::custom)
    }
}

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

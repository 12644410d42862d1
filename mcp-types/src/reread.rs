//! Objects that are read as members first, because one of them says which type they are.

use serde::de::{DeserializeOwned, Error};

use crate::JsonObject;

/// Reads members as `T`: through their text, since all types are read from text anyway, and to
/// read them from values as well would compile each of them, and all that is in it, once more.
pub(crate) fn members<T: DeserializeOwned, E: Error>(members: &JsonObject) -> Result<T, E> {
    let read = serde_json::to_string(members).and_then(|text| serde_json::from_str(&text));
    read.map_err(|error| E::custom(reason(&error)))
}

/// What is wrong, without its place in a text that nobody has sent.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}

//! Objects that are read as members first, because one of them says which type they are.

use crate::JsonObject;
use crate::json::{Read, read_text};

/// Reads members as `T`: through their text, since all types are read from text anyway, and to
/// read them from values as well would compile the reader once more.
pub(crate) fn members<T: Read>(members: &JsonObject) -> Result<T, String> {
    let mut found = T::blank();
    let text = serde_json::to_string(members);
    let read = text.and_then(|text| read_text(&text, found.slot()));
    read.map_err(|error| reason(&error))?;
    Ok(found)
}

/// What is wrong, without its place in a text that nobody has sent.
pub(crate) fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}

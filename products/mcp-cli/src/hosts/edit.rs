//! Entries in JSON, TOML and YAML files. The bytes outside of an entry stay as they are.
//!
//! The result is parsed again and compared with the old values: an edit that would change anything else is refused.
//!
//! | module | contents |
//! |---|---|
//! | `json` | members of objects, at the places that the parser gives |
//! | `toml` | tables, from their headers to the next ones |
//! | `yaml` | blocks, by their indentation |
//! | `text` | lines, and the error of an edit |

mod json;
mod text;
mod toml;
mod yaml;

use jsonc_parser::ParseOptions;
use serde_json::{Map, Value};

pub(crate) use text::EditError;
use text::unreadable;

use super::{Entry, Format, Host, to_value};
use crate::config::parse_yaml;

/// The byte order mark of some editors, which stays.
const BOM: char = '\u{feff}';

/// Adds a server entry, or replaces it if `replaces` is true. Returns the new text, which is the old one if
/// the entry is in it already.
pub(crate) fn insert(
    host: Host,
    text: &str,
    name: &str,
    entry: &Entry,
    replaces: bool,
) -> Result<String, EditError> {
    if let Some(rest) = text.strip_prefix(BOM) {
        let edited = insert(host, rest, name, entry, replaces)?;
        return Ok(format!("{BOM}{edited}"));
    }
    let mut expected = parse(host.format(), text)?;
    let value = to_value(entry);
    let old = servers(&mut expected, host)?.insert(name.to_owned(), value.clone());
    if old.as_ref() == Some(&value) {
        return Ok(text.to_owned());
    }
    if old.is_some() && !replaces {
        return Err(EditError::Taken);
    }
    let member = host.row().member;
    let edited = match host.format() {
        Format::Json => json::insert(text, member, name, entry)?,
        Format::Toml => toml::insert(text, member, name, entry)?,
        Format::Yaml => yaml::insert(text, member, name, entry)?,
    };
    check(host.format(), edited, &expected)
}

/// Removes a server entry. Returns `None` if there is none.
pub(crate) fn remove(host: Host, text: &str, name: &str) -> Result<Option<String>, EditError> {
    if let Some(rest) = text.strip_prefix(BOM) {
        let edited = remove(host, rest, name)?;
        return Ok(edited.map(|edited| format!("{BOM}{edited}")));
    }
    let mut expected = parse(host.format(), text)?;
    if servers(&mut expected, host)?.remove(name).is_none() {
        return Ok(None);
    }
    let edited = match host.format() {
        Format::Json => json::remove(text, host.row().member, name)?,
        Format::Toml => toml::remove(text, host.row().member, name)?,
        Format::Yaml => yaml::remove(text, host.row().member, name)?,
    };
    check(host.format(), edited, &expected).map(Some)
}

/// Parses a whole file. An empty one has no members.
fn parse(format: Format, text: &str) -> Result<Map<String, Value>, EditError> {
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    let value: Option<Value> = match format {
        Format::Json => jsonc_parser::parse_to_serde_value(text, &ParseOptions::default())
            .map_err(unreadable)?,
        // The message alone: its long form repeats the line, which may contain a secret.
        Format::Toml => ::toml::from_str(text)
            .map_err(|error: ::toml::de::Error| unreadable(error.message()))?,
        Format::Yaml => Some(parse_yaml(text).map_err(|_| unreadable("it is not valid YAML"))?),
    };
    match value {
        Some(Value::Object(members)) => Ok(members),
        // A YAML file of comments.
        Some(Value::Null) | None => Ok(Map::new()),
        Some(_) => Err(unreadable("it is not an object")),
    }
}

fn servers(
    file: &mut Map<String, Value>,
    host: Host,
) -> Result<&mut Map<String, Value>, EditError> {
    let member = file
        .entry(host.row().member)
        .or_insert_with(|| Map::new().into());
    if member.is_null() {
        *member = Map::new().into();
    }
    let problem = || unreadable(format!("{:?} is not an object", host.row().member));
    member.as_object_mut().ok_or_else(problem)
}

fn check(
    format: Format,
    edited: String,
    expected: &Map<String, Value>,
) -> Result<String, EditError> {
    let mut found = parse(format, &edited)?;
    // The last entry may leave an empty or no member.
    let mut expected = expected.clone();
    for file in [&mut found, &mut expected] {
        file.retain(|_, value| {
            !value.is_null() && value.as_object().is_none_or(|map| !map.is_empty())
        });
    }
    if found == expected {
        return Ok(edited);
    }
    Err(unreadable(
        "its form cannot be edited without a change of something else; edit it yourself",
    ))
}

#[cfg(test)]
mod tests;

//! Entries as tables of a TOML file.

use serde_json::Value;
use toml_edit::{DocumentMut, Item, Table};

use super::text::{EditError, append, cut, unreadable};
use crate::hosts::Entry;

/// Appends the table of the entry, after the removal of an old one.
pub(super) fn insert(
    text: &str,
    member: &str,
    name: &str,
    entry: &Entry,
) -> Result<String, EditError> {
    let document = parse(text)?;
    let servers = document.get(member);
    if servers.is_some_and(|servers| !servers.is_table()) {
        return Err(unreadable(format!("{member} is not a table with a header")));
    }
    if servers.is_some_and(|servers| servers.get(name).is_some()) {
        let removed = remove(text, member, name)?;
        return insert(&removed, member, name, entry);
    }
    let mut table = Table::new();
    for (name, value) in entry {
        table.insert(name, Item::Value(to_toml(value)));
    }
    let mut servers = Table::new();
    // Only its tables have a header.
    servers.set_implicit(true);
    servers.insert(name, Item::Table(table));
    let mut block = DocumentMut::new();
    block.insert(member, Item::Table(servers));
    let lines: Vec<_> = block
        .to_string()
        .trim()
        .lines()
        .map(str::to_owned)
        .collect();
    Ok(append(text, &lines))
}

/// Removes the tables of an entry, or its key in the table of all entries.
pub(super) fn remove(text: &str, member: &str, name: &str) -> Result<String, EditError> {
    let mut document = parse(text)?;
    let found = tables(text, member, name);
    if !found.is_empty() {
        let tables = found.into_iter().rev();
        return Ok(tables.fold(text.to_owned(), |text, (start, end)| cut(&text, start, end)));
    }
    if let Some(servers) = document.get_mut(member).and_then(Item::as_table_like_mut) {
        servers.remove(name);
    }
    Ok(document.to_string())
}

/// Returns where the tables of an entry begin, and where their last values end.
fn tables(text: &str, member: &str, name: &str) -> Vec<(usize, usize)> {
    let (mut found, mut is_open, mut start) = (Vec::<(usize, usize)>::new(), false, 0);
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        let content = line.trim();
        // A line with a bracket may also be in an array or in a text of several lines.
        if content.starts_with('[') && text[..start].parse::<DocumentMut>().is_ok() {
            let header = content.parse::<DocumentMut>().unwrap_or_default();
            let entry = header.get(member).and_then(|servers| servers.get(name));
            is_open = entry.is_some();
            if is_open {
                found.push((start, end));
            }
        } else if let Some((_, last)) = found.last_mut().filter(|_| is_open)
            && !content.is_empty()
            && !content.starts_with('#')
        {
            *last = end;
        }
        start = end;
    }
    found
}

fn parse(text: &str) -> Result<DocumentMut, EditError> {
    text.parse()
        .map_err(|error: toml_edit::TomlError| unreadable(error.message()))
}

fn to_toml(value: &Value) -> toml_edit::Value {
    match value {
        Value::Bool(value) => (*value).into(),
        Value::Number(number) => number.as_i64().unwrap_or_default().into(),
        Value::Array(items) => toml_edit::Value::Array(items.iter().map(to_toml).collect()),
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| (name, to_toml(value)));
            toml_edit::Value::InlineTable(members.collect())
        }
        Value::Null => String::new().into(),
        Value::String(text) => text.as_str().into(),
    }
}

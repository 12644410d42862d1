//! Entries as tables of a TOML file.

use std::ops::Range;

use serde_json::Value;
use toml_edit::{Document, DocumentMut, Item, Table};

use super::text::{EditError, append, cut_all, unreadable};
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
    let document = Document::parse(text).map_err(|error| unreadable(error.message()))?;
    let found = tables(&document, text, member, name);
    if !found.is_empty() {
        return Ok(cut_all(text, &found));
    }
    let mut document = document.into_mut();
    if let Some(servers) = document.get_mut(member).and_then(Item::as_table_like_mut) {
        servers.remove(name);
    }
    Ok(document.to_string())
}

/// Returns where the tables of an entry begin, and where their last values end.
fn tables(document: &Document<&str>, text: &str, member: &str, name: &str) -> Vec<Range<usize>> {
    let mut values = Vec::new();
    spans(document.as_item(), &mut values);
    values.sort_unstable_by_key(|span| span.start);
    // A line with a bracket may also be in an array or in a text of several lines.
    let is_in_value = |at: usize| {
        let before = values.partition_point(|span| span.start < at);
        before > 0 && values[before - 1].end > at
    };
    let (mut found, mut is_open, mut start) = (Vec::<Range<usize>>::new(), false, 0);
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        let content = line.trim();
        let at = start + line.len() - line.trim_start().len();
        if content.starts_with('[') && !is_in_value(at) {
            let header = content.parse::<DocumentMut>().unwrap_or_default();
            let entry = header.get(member).and_then(|servers| servers.get(name));
            is_open = entry.is_some();
            if is_open {
                found.push(start..end);
            }
        } else if let Some(last) = found.last_mut().filter(|_| is_open)
            && !content.is_empty()
            && !content.starts_with('#')
        {
            last.end = end;
        }
        start = end;
    }
    found
}

/// Adds the places of values, which do not overlap.
fn spans(item: &Item, found: &mut Vec<Range<usize>>) {
    match item {
        Item::Value(value) => found.extend(value.span()),
        Item::Table(table) => table.iter().for_each(|(_, item)| spans(item, found)),
        Item::ArrayOfTables(tables) => {
            let items = tables.iter().flat_map(Table::iter);
            items.for_each(|(_, item)| spans(item, found));
        }
        Item::None => {}
    }
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

//! Entries as blocks of a member of a YAML file. Values are JSON, which is YAML.

use serde_json::Value;

use super::text::{EditError, append, cut, line_end, unreadable};
use crate::hosts::Entry;

/// Writes the block at the begin of the member, or a new member at the end.
pub(super) fn insert(
    text: &str,
    member: &str,
    name: &str,
    entry: &Entry,
) -> Result<String, EditError> {
    if let Some((start, end)) = find(text, member, name) {
        let removed = format!("{}{}", &text[..start], &text[end..]);
        return insert(&removed, member, name, entry);
    }
    let Some((start, end)) = header(text, member) else {
        let mut lines = block("  ", name, entry);
        lines.insert(0, format!("{member}:"));
        return Ok(append(text, &lines));
    };
    let line = &text[start..end];
    let mut inside = text[end..].split_inclusive('\n');
    let first = inside.find(|line| !is_blank(line)).unwrap_or_default();
    let width = indent(first);
    let lines = block(&" ".repeat(if width == 0 { 2 } else { width }), name, entry);
    let ending = line_end(text);
    let block = lines.join(ending);
    let (line, rest) = (line.replacen(" {}", "", 1), &text[end..]);
    Ok(if line.ends_with('\n') {
        format!("{}{line}{block}{ending}{rest}", &text[..start])
    } else {
        format!("{}{line}{ending}{block}", &text[..start])
    })
}

pub(super) fn remove(text: &str, member: &str, name: &str) -> Result<String, EditError> {
    let found = find(text, member, name);
    let (start, end) =
        found.ok_or_else(|| unreadable("its form is not known; edit it yourself"))?;
    Ok(cut(text, start, end))
}

fn block(indent: &str, name: &str, entry: &Entry) -> Vec<String> {
    let mut lines = vec![format!("{indent}{}:", Value::from(name))];
    let values = entry.iter();
    lines.extend(values.map(|(name, value)| format!("{indent}  {name}: {value}")));
    lines
}

/// Returns where the line of the member begins and ends.
fn header(text: &str, member: &str) -> Option<(usize, usize)> {
    let key = format!("{member}:");
    let mut lines = lines(text);
    let found = lines.find(|(_, line)| {
        let line = line.split(" #").next().unwrap_or_default().trim_end();
        line == key || line == format!("{key} {{}}")
    });
    found.map(|(start, line)| (start, start + line.len()))
}

/// Returns where an entry begins, and where its last line ends. Comments and blank lines after it are not part of it.
fn find(text: &str, member: &str, name: &str) -> Option<(usize, usize)> {
    let (_, first) = header(text, member)?;
    let keys = [
        format!("{name}:"),
        format!("{}:", Value::from(name)),
        format!("'{name}':"),
    ];
    let inside = lines(&text[first..]).map(|(start, line)| (first + start, line));
    let mut inside = inside.take_while(|(_, line)| is_blank(line) || indent(line) > 0);
    let is_entry = |line: &str| {
        let line = line.split(" #").next().unwrap_or_default().trim();
        keys.iter().any(|key| line == key)
    };
    let (start, line) = inside.find(|(_, line)| is_entry(line))?;
    let width = indent(line);
    let block = inside.take_while(|(_, line)| is_blank(line) || indent(line) > width);
    let last = block.filter(|(_, line)| !is_blank(line)).last();
    let (last, line) = last.unwrap_or((start, line));
    Some((start, last + line.len()))
}

/// Iterates over the lines with their endings, and where each begins.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        at += line.len();
        (at - line.len(), line)
    })
}

fn is_blank(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

//! Entries as members of objects in JSON with comments.

use jsonc_parser::ast::{Object, Value as Node};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde::Serialize as _;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Value, json};

use super::text::{EditError, line_end, unreadable};
use crate::hosts::{Entry, to_value};

/// Replaces the value of the entry, or adds the entry at the end of its object.
pub(super) fn insert(
    text: &str,
    member: &str,
    name: &str,
    entry: &Entry,
) -> Result<String, EditError> {
    let value = to_value(entry);
    let Some(root) = parse(text)? else {
        let file = json!({member: {name: value}});
        let end = line_end(text);
        let separator = if text.is_empty() || text.ends_with('\n') {
            ""
        } else {
            end
        };
        let file = pretty(&file, "", "  ", end);
        return Ok(format!("{text}{separator}{file}{end}"));
    };
    let root = root
        .as_object()
        .ok_or_else(|| unreadable("it is not an object"))?;
    let Some(servers) = root.get(member) else {
        return Ok(add(text, root, member, &json!({name: value})));
    };
    let (node, value) = match &servers.value {
        Node::Object(servers) => match servers.get(name) {
            Some(old) => (&old.value, value),
            None => return Ok(add(text, servers, name, &value)),
        },
        other => (other, json!({name: value})),
    };
    let (start, end) = (node.start(), node.end());
    let indent = indent(text, start);
    let value = pretty(&value, indent, unit(indent), line_end(text));
    Ok(format!("{}{value}{}", &text[..start], &text[end..]))
}

pub(super) fn remove(text: &str, member: &str, name: &str) -> Result<String, EditError> {
    let root = parse(text)?;
    let root = root.as_ref().and_then(|root| root.as_object());
    let Some(servers) = root.and_then(|root| root.get_object(member)) else {
        return Ok(text.to_owned());
    };
    let position = |name: &str| {
        let mut members = servers.properties.iter();
        members.position(|found| found.name.as_str() == name)
    };
    let Some(at) = position(name) else {
        return Ok(text.to_owned());
    };
    let (property, close) = (&servers.properties[at], servers.end() - 1);
    // The white space before the member, up to a comment or the member before it.
    let start = text[..property.start()].trim_end().len();
    let next = servers.properties.get(at + 1);
    let following = next.map_or(close, |next| next.start());
    let comma = comma(text, property.end(), following);
    let end = comma.map_or(property.end(), |comma| comma + 1);
    let (mut before, after) = (text[..start].to_owned(), &text[end..]);
    if at > 0 && next.is_none() && comma.is_none() {
        // The comma that stood before this last member.
        let last = servers.properties[at - 1].end();
        if let Some(comma) = self::comma(text, last, property.start()) {
            before.remove(comma);
        }
    }
    let interior = before[servers.start() + 1..].len() + close - end;
    let is_empty =
        before[servers.start() + 1..].trim().is_empty() && text[end..close].trim().is_empty();
    if is_empty && interior > 0 {
        return Ok(format!("{}{}", &text[..=servers.start()], &text[close..]));
    }
    Ok(format!("{before}{after}"))
}

fn parse(text: &str) -> Result<Option<Node<'_>>, EditError> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
    parsed.map(|parsed| parsed.value).map_err(unreadable)
}

/// Adds a member at the end of an object, after its comments. A comma after the last member stays the style.
fn add(text: &str, object: &Object<'_>, name: &str, value: &Value) -> String {
    let (open, close) = (object.start(), object.end() - 1);
    let end_of_line = line_end(text);
    let at = text[..close].trim_end().len().max(open + 1);
    let key = Value::from(name);
    let Some(first) = object.properties.first() else {
        let outer = indent(text, open);
        let inner = format!("{outer}{}", unit(outer));
        let value = pretty(value, &inner, unit(outer), end_of_line);
        // A brace on a line of its own stays there.
        let closing = if text[at..close].contains('\n') {
            String::new()
        } else {
            format!("{end_of_line}{outer}")
        };
        let member = format!("{end_of_line}{inner}{key}: {value}{closing}");
        return format!("{}{member}{}", &text[..at], &text[at..]);
    };
    let last = object.properties.last().unwrap_or(first).end();
    let has_comma = comma(text, last, close).is_some();
    let (before, between) = (&text[..last], &text[last..at]);
    let (separator, trailing) = if has_comma { ("", ",") } else { (",", "") };
    if !text[open..close].contains('\n') {
        return format!(
            "{before}{separator}{between} {key}: {value}{trailing}{}",
            &text[at..]
        );
    }
    let indent = indent(text, first.start());
    let value = pretty(value, indent, unit(indent), end_of_line);
    let member = format!("{end_of_line}{indent}{key}: {value}{trailing}");
    format!("{before}{separator}{between}{member}{}", &text[at..])
}

/// Returns where the first comma outside of comments is.
fn comma(text: &str, start: usize, end: usize) -> Option<usize> {
    let mut at = start;
    while at < end {
        let rest = &text[at..end];
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |close| close + 2)
        } else if rest.starts_with(',') {
            return Some(at);
        } else {
            rest.chars().next().map_or(1, char::len_utf8)
        };
        at += length;
    }
    None
}

/// Returns the white space at the begin of a line.
fn indent(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let line = &text[start..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Returns one level of indentation.
fn unit(indent: &str) -> &'static str {
    if indent.contains('\t') { "\t" } else { "  " }
}

/// Returns a value in several lines. Those after the first are indented.
fn pretty(value: &Value, indent: &str, unit: &str, end_of_line: &str) -> String {
    let mut bytes = Vec::new();
    let mut serializer =
        Serializer::with_formatter(&mut bytes, PrettyFormatter::with_indent(unit.as_bytes()));
    // Writing JSON to memory does not fail.
    let _ = value.serialize(&mut serializer);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    text.replace('\n', &format!("{end_of_line}{indent}"))
}

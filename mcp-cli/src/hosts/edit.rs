//! Entries in JSON, TOML and YAML files, with the rest of the file as it was.
//!
//! The result is parsed again and compared with the old values: an edit that would change anything else is refused.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstRootNode};
use serde_json::{Map, Value};
use toml_edit::{DocumentMut, Item, Table};

use super::{Entry, Format, Host, to_value};

/// The byte order mark of some editors, which stays.
const BOM: char = '\u{feff}';

/// Reason for which a file cannot be edited.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum EditError {
    /// The file has an entry of this name.
    Taken,
    /// The file is not what the host reads, or has a form that cannot be edited without a loss.
    Unreadable(String),
}

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
    let text = if old.is_some() && host.format() == Format::Yaml {
        remove_yaml(text, host.member(), name)?
    } else {
        text.to_owned()
    };
    let edited = match host.format() {
        Format::Json => insert_json(&text, host.member(), name, entry)?,
        Format::Toml => insert_toml(&text, host.member(), name, entry)?,
        Format::Yaml => insert_yaml(&text, host.member(), name, entry),
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
        Format::Json => remove_json(text, host.member(), name)?,
        Format::Toml => remove_toml(text, host.member(), name)?,
        Format::Yaml => remove_yaml(text, host.member(), name)?,
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
        Format::Toml => {
            toml::from_str(text).map_err(|error: toml::de::Error| unreadable(error.message()))?
        }
        Format::Yaml => {
            serde_saphyr::from_str(text).map_err(|_| unreadable("it is not valid YAML"))?
        }
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
        .entry(host.member())
        .or_insert_with(|| Map::new().into());
    if member.is_null() {
        *member = Map::new().into();
    }
    let problem = || unreadable(format!("{:?} is not an object", host.member()));
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

fn unreadable(reason: impl ToString) -> EditError {
    EditError::Unreadable(reason.to_string())
}

fn insert_json(text: &str, member: &str, name: &str, entry: &Entry) -> Result<String, EditError> {
    let root = CstRootNode::parse(text, &ParseOptions::default()).map_err(unreadable)?;
    let servers = root.object_value_or_set().object_value_or_set(member);
    let members = entry
        .iter()
        .map(|(name, value)| ((*name).to_owned(), to_cst(value)));
    let value = CstInputValue::Object(members.collect());
    match servers.get(name) {
        Some(existing) => existing.set_value(value),
        None => drop(servers.append(name, value)),
    }
    let mut text = root.to_string();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}

fn remove_json(text: &str, member: &str, name: &str) -> Result<String, EditError> {
    let root = CstRootNode::parse(text, &ParseOptions::default()).map_err(unreadable)?;
    let servers = root
        .object_value()
        .and_then(|object| object.object_value(member));
    if let Some(property) = servers.and_then(|servers| servers.get(name)) {
        property.remove();
    }
    Ok(root.to_string())
}

fn to_cst(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(to_cst).collect()),
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(name, value)| (name.clone(), to_cst(value)));
            CstInputValue::Object(members.collect())
        }
    }
}

fn insert_toml(text: &str, member: &str, name: &str, entry: &Entry) -> Result<String, EditError> {
    let mut document = parse_toml(text)?;
    let mut table = Table::new();
    for (name, value) in entry {
        table.insert(name, Item::Value(to_toml(value)));
    }
    let servers = document.entry(member).or_insert_with(|| {
        let mut servers = Table::new();
        // Only its tables have a header.
        servers.set_implicit(true);
        Item::Table(servers)
    });
    match servers {
        Item::Table(servers) => drop(servers.insert(name, Item::Table(table))),
        _ => return Err(unreadable(format!("{member} is not a table with a header"))),
    }
    Ok(document.to_string())
}

fn remove_toml(text: &str, member: &str, name: &str) -> Result<String, EditError> {
    let mut document = parse_toml(text)?;
    if let Some(servers) = document.get_mut(member).and_then(Item::as_table_like_mut) {
        servers.remove(name);
    }
    Ok(document.to_string())
}

fn parse_toml(text: &str) -> Result<DocumentMut, EditError> {
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

/// Writes the block at the begin of the member, or a new member at the end. Values are JSON, which is YAML.
fn insert_yaml(text: &str, member: &str, name: &str, entry: &Entry) -> String {
    let header = format!("{member}:");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let existing = lines.iter().position(|line| {
        line.split(" #").next().is_some_and(|line| {
            line.trim_end() == header || line.trim_end() == format!("{header} {{}}")
        })
    });
    let at = existing.unwrap_or_else(|| {
        lines.push(String::new());
        lines.len() - 1
    });
    lines[at] = header;
    let next = lines.get(at + 1).map_or("", String::as_str);
    let width = next.len() - next.trim_start().len();
    let indent = " ".repeat(if width == 0 { 2 } else { width });
    let mut block = vec![format!("{indent}{}:", Value::from(name))];
    block.extend(
        entry
            .iter()
            .map(|(name, value)| format!("{indent}  {name}: {value}")),
    );
    lines.splice(at + 1..at + 1, block);
    lines.join("\n") + "\n"
}

fn remove_yaml(text: &str, member: &str, name: &str) -> Result<String, EditError> {
    let lines: Vec<&str> = text.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let is_blank = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
    let start = lines
        .iter()
        .position(|line| line.trim_end() == format!("{member}:"));
    let names = [
        format!("{name}:"),
        format!("{}:", Value::from(name)),
        format!("'{name}':"),
    ];
    let entry = start.and_then(|start| {
        let inside = lines.iter().enumerate().skip(start + 1);
        let mut inside = inside.take_while(|(_, line)| is_blank(line) || indent(line) > 0);
        inside.find(|(_, line)| names.iter().any(|name| line.trim() == name))
    });
    let Some((first, line)) = entry else {
        return Err(unreadable("its form is not known; edit it yourself"));
    };
    let after = lines.iter().skip(first + 1);
    let count = after
        .take_while(|next| is_blank(next) || indent(next) > indent(line))
        .count();
    let kept = lines[..first].iter().chain(&lines[first + 1 + count..]);
    Ok(kept.copied().collect::<Vec<_>>().join("\n") + "\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Host;
    use super::{EditError, Entry, insert, remove};

    fn entry() -> Entry {
        vec![
            ("command", json!("/bin/shop")),
            ("args", json!(["--fast"])),
            ("env", json!({"A": "1"})),
        ]
    }

    /// Inserts and removes an entry, and returns the text between.
    fn round_trip(host: Host, text: &str) -> String {
        let inserted = insert(host, text, "shop", &entry(), false).unwrap();
        assert_eq!(
            insert(host, &inserted, "shop", &entry(), false),
            Ok(inserted.clone())
        );
        let other = vec![("command", json!("other"))];
        assert_eq!(
            insert(host, &inserted, "shop", &other, false),
            Err(EditError::Taken)
        );
        assert!(
            insert(host, &inserted, "shop", &other, true)
                .unwrap()
                .contains("other")
        );
        let removed = remove(host, &inserted, "shop").unwrap().unwrap();
        assert_eq!(remove(host, &removed, "shop"), Ok(None));
        assert!(!removed.contains("shop"), "{removed}");
        inserted
    }

    #[test]
    fn json_keeps_comments_and_order() {
        let text = "{\n  // mine\n  \"theme\": \"dark\",\n  \"mcpServers\": {\n    \"b\": { \"command\": \"b\" }, // second\n  },\n  \"a\": 1\n}\n";
        let inserted = round_trip(Host::Cursor, text);
        for kept in [
            "// mine",
            "\"b\": { \"command\": \"b\" }",
            "// second",
            "\"theme\": \"dark\",\n",
        ] {
            assert!(inserted.contains(kept), "{inserted}");
        }
        assert!(inserted.contains("\"command\": \"/bin/shop\""));
        for text in ["", "{}", "{\"a\": {}}"] {
            assert!(round_trip(Host::Zed, text).contains("context_servers"));
        }
    }

    #[test]
    fn toml_keeps_comments_and_order() {
        let text =
            "# mine\nmodel = \"x\"\n\n[mcp_servers.b]\ncommand = \"b\" # second\n\n[tui]\nx = 1\n";
        let inserted = round_trip(Host::Codex, text);
        for kept in [
            "# mine\nmodel",
            "command = \"b\" # second",
            "[tui]",
            "[mcp_servers.shop]",
            "env = { A = \"1\" }",
        ] {
            assert!(inserted.contains(kept), "{inserted}");
        }
        assert!(round_trip(Host::Codex, "").starts_with("[mcp_servers.shop]"));
    }

    #[test]
    fn yaml_keeps_comments_and_order() {
        let text =
            "GOOSE_MODEL: x # mine\nextensions:\n  b:\n    cmd: b\n    envs: {}\n# end\nother: 1\n";
        let inserted = round_trip(Host::Goose, text);
        for kept in ["# mine", "  b:\n    cmd: b\n", "# end\nother: 1"] {
            assert!(inserted.contains(kept), "{inserted}");
        }
        round_trip(Host::Goose, "");
        round_trip(Host::Goose, "GOOSE_MODEL: x\nextensions: {}\n");
    }

    #[test]
    fn files_of_another_form_are_refused() {
        for (host, text) in [
            (Host::Cursor, "{\"mcpServers\": []}"),
            (Host::Cursor, "[1]"),
            (Host::Cursor, "{"),
            (Host::Codex, "mcp_servers = 1"),
            (Host::Codex, "mcp_servers = { a = { command = 'a' } }"),
            (Host::Goose, "extensions: {b: {cmd: b}}"),
            (Host::Goose, "- a"),
        ] {
            let edited = insert(host, text, "shop", &entry(), false);
            assert!(
                matches!(edited, Err(EditError::Unreadable(_))),
                "{text}: {edited:?}"
            );
        }
    }
}

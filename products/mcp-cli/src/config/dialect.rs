//! The syntax of configuration files, by the program that they belong to.

use std::io;
use std::path::Path;

use mcp::group::{ConfigError, GroupConfig, Variables};
use serde_json::{Map, Value, json};

/// Largest size of a file in bytes: 1 MiB.
const MAX_BYTES: u64 = 1 << 20;

/// The syntax of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// An `mcp.json`, or settings in JSON with such members.
    Json,
    /// JSON with variables as `${NAME}`, which `Json` has too, and as `$NAME`: Gemini CLI and Qwen Code. A `$NAME`
    /// without a value stays as it is.
    Dollar,
    /// JSON with variables as `{env:NAME}`: opencode. A variable without a value is empty.
    Braces,
    /// TOML with tables `mcp_servers.NAME`: Codex.
    Codex,
    /// YAML with `extensions`: Goose.
    Goose,
}

impl Dialect {
    /// Returns the syntax of a file that the user names.
    pub(super) fn of_path(path: &Path) -> Self {
        match path.extension() {
            Some(extension) if extension == "toml" => Self::Codex,
            Some(extension) if extension == "yaml" => Self::Goose,
            _ => Self::Json,
        }
    }

    /// Reads a file of up to 1 MiB. The paths of an `mcp.json` are relative to the file (`is_own`); those of another
    /// program's file to the folder in which the program runs: the current one.
    ///
    /// # Errors
    ///
    /// Returns a [`ConfigError`] if the file cannot be read or parsed, or lists no servers.
    pub(super) fn read(self, path: &Path, is_own: bool) -> Result<GroupConfig, ConfigError> {
        let text = || mcp_files::read(path, MAX_BYTES);
        let converted = match self {
            Self::Json if is_own => return GroupConfig::read(path),
            Self::Json => text().map(Some),
            Self::Dollar => text().map(|text| Some(dollars(&text))),
            Self::Braces => text().map(|text| Some(braces(&text))),
            Self::Codex => text().and_then(|text| codex(&text)),
            Self::Goose => text().and_then(|text| goose(&text)),
        };
        let converted = converted.map_err(|source| ConfigError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        let text = converted.ok_or(ConfigError::NoServers)?;
        let folder = std::env::current_dir().unwrap_or_default();
        GroupConfig::parse(&text, &Variables::of_process().workspace(&folder))
    }
}

/// Parses YAML by the rules of version 1.2, by which `NO`, `on`, `y`, `012` and `1_000` are text.
pub(crate) fn parse_yaml(text: &str) -> Result<Value, serde_saphyr::Error> {
    let options = serde_saphyr::options! {
        strict_booleans: true,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
    };
    serde_saphyr::from_str_with_options(text, options)
}

/// Replaces `$NAME` by `${NAME:-$NAME}`.
fn dollars(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = after.find(|c| !is_name(c)).unwrap_or(after.len());
        let (name, behind) = after.split_at(end);
        out.push_str(before);
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            out.push('$');
            rest = after;
        } else {
            out.push_str(&format!("${{{name}:-${name}}}"));
            rest = behind;
        }
    }
    out.push_str(rest);
    out
}

/// Replaces `{env:NAME}` by `${env:NAME:-}`.
fn braces(text: &str) -> String {
    let mut parts = text.split("{env:");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once('}') {
            Some((name, behind)) => out.push_str(&format!("${{env:{name}:-}}{behind}")),
            None => out.push_str(&format!("{{env:{part}")),
        }
    }
    out
}

/// Converts settings of Codex to the text of an `mcp.json`. `None` if they list no servers.
fn codex(text: &str) -> io::Result<Option<String>> {
    // The message of the error alone: its long form repeats the line, which may contain a secret.
    let invalid = |error: toml::de::Error| {
        let reason = format!("it is not valid TOML: {}", error.message());
        io::Error::new(io::ErrorKind::InvalidData, reason)
    };
    let mut settings: Map<String, Value> = toml::from_str(text).map_err(invalid)?;
    let Some(Value::Object(tables)) = settings.remove("mcp_servers") else {
        return Ok(None);
    };
    let servers = tables.into_iter().map(|(name, table)| {
        let entry = match table {
            Value::Object(table) => Value::Object(codex_entry(table)),
            other => other,
        };
        (name, entry)
    });
    let servers: Map<String, Value> = servers.collect();
    Ok(Some(json!({ "mcpServers": servers }).to_string()))
}

fn codex_entry(mut table: Map<String, Value>) -> Map<String, Value> {
    let object = |value: Option<Value>| match value {
        Some(Value::Object(members)) => members,
        _ => Map::new(),
    };
    let mut headers = object(table.remove("http_headers"));
    for (header, variable) in object(table.remove("env_http_headers")) {
        if let Some(variable) = variable.as_str() {
            headers.insert(header, json!(format!("${{env:{variable}}}")));
        }
    }
    if let Some(variable) = table.get("bearer_token_env_var").and_then(Value::as_str) {
        let token = format!("Bearer ${{env:{variable}}}");
        headers.insert("Authorization".to_owned(), json!(token));
    }
    // Variables of the environment that the program gets.
    let mut env = object(table.remove("env"));
    let passed = table.remove("env_vars");
    let passed = passed.as_ref().and_then(Value::as_array);
    for name in passed.into_iter().flatten().filter_map(Value::as_str) {
        if std::env::var_os(name).is_some() {
            env.insert(name.to_owned(), json!(format!("${{env:{name}}}")));
        }
    }
    let known = ["command", "args", "cwd", "url", "enabled"];
    let mut entry: Map<_, _> = table
        .into_iter()
        .filter(|(name, _)| known.contains(&name.as_str()))
        .collect();
    entry.insert("headers".to_owned(), headers.into());
    entry.insert("env".to_owned(), env.into());
    entry
}

/// Converts settings of Goose to the text of an `mcp.json`. `None` if they list no servers.
fn goose(text: &str) -> io::Result<Option<String>> {
    let invalid = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not valid YAML");
    let settings = parse_yaml(text).map_err(invalid)?;
    let Some(extensions) = settings.get("extensions").and_then(Value::as_object) else {
        return Ok(None);
    };
    // The others are parts of the program.
    let is_server = |entry: &Value| entry.get("cmd").is_some() || entry.get("uri").is_some();
    let servers = extensions.iter().filter(|(_, entry)| is_server(entry));
    let servers: Map<String, Value> = servers
        .map(|(name, entry)| {
            let mut env = entry["envs"].as_object().cloned().unwrap_or_default();
            // Goose has them in the keychain; here they come from the environment.
            let keys = entry["env_keys"].as_array().into_iter().flatten();
            for key in keys.filter_map(Value::as_str) {
                env.insert(key.to_owned(), json!(format!("${{env:{key}}}")));
            }
            let converted = if entry.get("uri").is_some() {
                json!({ "url": entry["uri"], "headers": entry["headers"].as_object().cloned().unwrap_or_default() })
            } else {
                let args = entry["args"].as_array().cloned().unwrap_or_default();
                json!({ "command": entry["cmd"], "args": args, "env": env })
            };
            (name.clone(), converted)
        })
        .collect();
    Ok((!servers.is_empty()).then(|| json!({ "mcpServers": servers }).to_string()))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{braces, codex, dollars, goose};

    #[test]
    fn goose_settings_are_converted() {
        let text = "extensions:\n  developer:\n    type: builtin\n  a:\n    type: stdio\n    cmd: npx\n    args: [-y, a]\n    env_keys: [A_KEY]\n  b:\n    type: streamable_http\n    uri: https://b.example/mcp\n";
        let expected = json!({"mcpServers": {
            "a": {"command": "npx", "args": ["-y", "a"], "env": {"A_KEY": "${env:A_KEY}"}},
            "b": {"url": "https://b.example/mcp", "headers": {}},
        }});
        let converted: Value = goose(text).unwrap().unwrap().parse().unwrap();
        assert_eq!(converted, expected);
        assert_eq!(goose("GOOSE_MODEL: x").unwrap(), None);
        assert!(goose("[").is_err());
    }

    #[test]
    fn goose_settings_are_read_as_yaml_1_2() {
        let text = "extensions:\n  a:\n    cmd: a\n    args: [NO, on, y, 012, 1_000, 7]\n    envs: {LANG: NO, MODE: 0777, N: 1_000, ON: true}\n";
        let expected = json!({"mcpServers": {"a": {
            "command": "a",
            "args": ["NO", "on", "y", "012", "1_000", 7],
            "env": {"LANG": "NO", "MODE": "0777", "N": "1_000", "ON": true},
        }}});
        let converted: Value = goose(text).unwrap().unwrap().parse().unwrap();
        assert_eq!(converted, expected);
    }

    #[test]
    fn variables_are_written_as_in_an_mcp_json() {
        for (text, expected) in [
            ("Bearer $TOKEN, x", "Bearer ${TOKEN:-$TOKEN}, x"),
            (
                "${TOKEN} ${REGION:-north} $1 $",
                "${TOKEN} ${REGION:-north} $1 $",
            ),
            ("$A$B", "${A:-$A}${B:-$B}"),
        ] {
            assert_eq!(dollars(text), expected);
        }
        for (text, expected) in [
            ("Bearer {env:TOKEN}, x", "Bearer ${env:TOKEN:-}, x"),
            ("{env:A}{env:B}", "${env:A:-}${env:B:-}"),
            ("{env:A", "{env:A"),
            ("{}", "{}"),
        ] {
            assert_eq!(braces(text), expected);
        }
    }

    #[test]
    fn codex_settings_are_converted() {
        let text = r#"
            model = "x"
            [mcp_servers.a]
            command = "npx"
            args = ["-y", "a"]
            env = { K = "1" }
            env_vars = ["MCP_NO_SUCH_VARIABLE"]
            startup_timeout_sec = 20
            [mcp_servers.b]
            url = "https://b.example/mcp"
            bearer_token_env_var = "B_TOKEN"
            http_headers = { X = "1" }
            env_http_headers = { Y = "B_KEY" }
            enabled = false
        "#;
        let expected = json!({"mcpServers": {
            "a": {"command": "npx", "args": ["-y", "a"], "headers": {}, "env": {"K": "1"}},
            "b": {
                "url": "https://b.example/mcp",
                "enabled": false,
                "headers": {"X": "1", "Y": "${env:B_KEY}", "Authorization": "Bearer ${env:B_TOKEN}"},
                "env": {},
            },
        }});
        let converted: Value = codex(text).unwrap().unwrap().parse().unwrap();
        assert_eq!(converted, expected);
        assert_eq!(codex("model = 'x'").unwrap(), None);
        let error = codex("[mcp_servers.a]\ncommand = s3cret").unwrap_err();
        assert!(!error.to_string().contains("s3cret"), "{error}");
    }
}

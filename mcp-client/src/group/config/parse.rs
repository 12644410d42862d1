//! Parsing of configuration files.

use std::collections::BTreeMap;

use mcp_types::JsonObject;
use serde::Deserialize;
use serde_json::Value;

use super::json;
use super::spec::{ConfigError, EntryError, GroupConfig, ServerEntry, ServerSpec};
use super::variables::Variables;

impl GroupConfig {
    /// Parses the content of a file. Comments and trailing commas are allowed.
    ///
    /// # Errors
    ///
    /// Returns [`ConfigError`] when the content is no valid JSON or lists no servers. The error of a
    /// single entry is in [`ServerEntry::spec`].
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::group::{GroupConfig, ServerSpec, Variables};
    ///
    /// let text = r#"{"mcpServers": {"files": {"command": "files", "args": ["${userHome}"]}}}"#;
    /// let variables = Variables::new().set("userHome", "/home/ada");
    /// let config = GroupConfig::parse(text, &variables)?;
    /// let Ok(ServerSpec::Command { args, .. }) = &config.servers[0].spec else { panic!() };
    /// assert_eq!(args[0], "/home/ada");
    /// # Ok::<(), mcp::group::ConfigError>(())
    /// ```
    pub fn parse(text: &str, variables: &Variables) -> Result<Self, ConfigError> {
        let file: ConfigFile = serde_json::from_str(&json::to_plain_json(text))?;
        let defaults = file.inputs.iter().filter_map(VsCodeInput::default_value);
        let variables = variables.clone().defaults(defaults);
        let servers = file.mcp_servers.or(file.servers);
        let servers = servers.ok_or(ConfigError::NoServers)?.into_iter();
        let entries = servers.map(|(name, entry)| parse_entry(name, entry, &variables));
        Ok(Self::new(entries.collect()))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConfigFile {
    mcp_servers: Option<JsonObject>,
    servers: Option<JsonObject>,
    #[serde(default)]
    inputs: Vec<VsCodeInput>,
}

/// An input of VS Code: a value that its user enters.
#[derive(Deserialize)]
struct VsCodeInput {
    id: String,
    default: Option<String>,
}

impl VsCodeInput {
    fn default_value(&self) -> Option<(String, String)> {
        let value = self.default.clone()?;
        Some((format!("input:{}", self.id), value))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawEntry {
    #[serde(rename = "type")]
    kind: Option<String>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: JsonObject,
    env_file: Option<String>,
    cwd: Option<String>,
    #[serde(alias = "serverUrl")]
    url: Option<String>,
    #[serde(default)]
    headers: JsonObject,
    #[serde(default)]
    disabled: bool,
    enabled: Option<bool>,
    #[serde(default)]
    extensions: BTreeMap<String, Vec<String>>,
}

fn parse_entry(name: String, entry: Value, variables: &Variables) -> ServerEntry {
    match serde_json::from_value::<RawEntry>(entry) {
        Ok(mut entry) => ServerEntry {
            name,
            extensions: std::mem::take(&mut entry.extensions),
            is_disabled: entry.disabled || entry.enabled == Some(false),
            spec: to_spec(entry, variables),
        },
        Err(error) => ServerEntry {
            name,
            is_disabled: false,
            extensions: BTreeMap::new(),
            spec: Err(EntryError::Malformed(error.to_string())),
        },
    }
}

fn to_spec(entry: RawEntry, variables: &Variables) -> Result<ServerSpec, EntryError> {
    let has_url = match entry.kind.as_deref() {
        None => entry.command.is_none(),
        Some("stdio") => false,
        Some("http" | "sse" | "streamable-http" | "streamableHttp") => true,
        Some(other) => return Err(EntryError::UnknownType(other.to_owned())),
    };
    let fill = |value: &String| variables.fill(value);
    if has_url {
        return Ok(ServerSpec::Url {
            url: fill(entry.url.as_ref().ok_or(EntryError::NoTarget)?)?,
            headers: pairs(&entry.headers, variables)?,
        });
    }
    Ok(ServerSpec::Command {
        command: fill(entry.command.as_ref().ok_or(EntryError::NoTarget)?)?,
        args: entry.args.iter().map(fill).collect::<Result<_, _>>()?,
        env: pairs(&entry.env, variables)?,
        env_file: entry.env_file.as_ref().map(fill).transpose()?,
        cwd: entry.cwd.as_ref().map(fill).transpose()?,
    })
}

/// Returns the names and values of an object. Numbers and booleans become strings, `null` is
/// skipped.
fn pairs(members: &JsonObject, variables: &Variables) -> Result<Vec<(String, String)>, EntryError> {
    let mut pairs = Vec::new();
    for (name, value) in members {
        let value = match value {
            Value::Null => continue,
            Value::String(text) => variables.fill(text)?,
            Value::Bool(_) | Value::Number(_) => value.to_string(),
            _ => return Err(EntryError::Malformed(format!("`{name}` must be a string"))),
        };
        pairs.push((name.clone(), value));
    }
    Ok(pairs)
}

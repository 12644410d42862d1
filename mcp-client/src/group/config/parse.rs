//! Parsing of configuration files.

use std::collections::BTreeMap;

use mcp_types::JsonObject;
use serde::Deserialize;
use serde_json::Value;

use super::json;
use super::spec::{ConfigError, EntryError, GroupConfig, ServerEntry, ServerSpec};
use super::variables::{self, Variables};

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
        let servers = file.into_servers().ok_or(ConfigError::NoServers)?;
        let entries = servers
            .into_iter()
            .map(|(name, entry)| parse_entry(name, entry, &variables));
        Ok(Self::new(entries.collect()))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConfigFile {
    mcp_servers: Option<JsonObject>,
    servers: Option<JsonObject>,
    /// Zed.
    #[serde(rename = "context_servers")]
    context_servers: Option<JsonObject>,
    /// The servers of opencode, in newer versions in the member `servers`. Other programs have settings there.
    mcp: Option<Value>,
    #[serde(default)]
    inputs: Vec<VsCodeInput>,
}

impl ConfigFile {
    fn into_servers(self) -> Option<JsonObject> {
        let known = self.mcp_servers.or(self.servers).or(self.context_servers);
        known.or_else(|| {
            let mut mcp = self.mcp?;
            let mcp = mcp.as_object_mut()?;
            if let Some(Value::Object(servers)) = mcp.remove("servers") {
                return Some(servers);
            }
            let named = std::mem::take(mcp).into_iter();
            let servers: JsonObject = named.filter(|(_, entry)| entry.is_object()).collect();
            (!servers.is_empty()).then_some(servers)
        })
    }
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
    command: Option<RawCommand>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default, alias = "environment")]
    env: JsonObject,
    env_file: Option<String>,
    cwd: Option<String>,
    #[serde(alias = "serverUrl")]
    url: Option<String>,
    /// Gemini and Qwen. `url` is an address of HTTP+SSE there.
    http_url: Option<String>,
    #[serde(default)]
    headers: JsonObject,
    #[serde(default)]
    disabled: bool,
    enabled: Option<bool>,
    #[serde(default)]
    extensions: BTreeMap<String, Vec<String>>,
}

/// The command of an entry.
#[derive(Deserialize)]
#[serde(untagged)]
enum RawCommand {
    Program(String),
    /// The program and its first arguments, of opencode.
    Words(Vec<String>),
    /// Older versions of Zed.
    Object {
        path: String,
        #[serde(default)]
        args: Vec<String>,
        #[serde(default)]
        env: JsonObject,
    },
}

impl RawEntry {
    /// Returns the program, and moves the arguments and variables that stand beside it to the entry's.
    fn take_program(&mut self) -> Option<String> {
        let (program, mut args) = match self.command.take()? {
            RawCommand::Program(program) => (program, Vec::new()),
            RawCommand::Words(words) => {
                let mut words = words.into_iter();
                (words.next()?, words.collect())
            }
            RawCommand::Object { path, args, env } => {
                self.env.extend(env);
                (path, args)
            }
        };
        args.append(&mut self.args);
        self.args = args;
        Some(program)
    }

    /// Returns the names of the variables in the members that a server gets.
    fn variables(&self, program: Option<&String>) -> Vec<String> {
        let single = [&self.env_file, &self.cwd, &self.url, &self.http_url];
        let values = self.env.values().chain(self.headers.values());
        let texts = program.into_iter().chain(single.into_iter().flatten());
        let texts = texts.chain(&self.args).map(String::as_str);
        let mut names = Vec::new();
        for text in texts.chain(values.filter_map(Value::as_str)) {
            for name in variables::names(text) {
                if !names.iter().any(|known| known == name) {
                    names.push(name.to_owned());
                }
            }
        }
        names
    }
}

fn parse_entry(name: String, entry: Value, variables: &Variables) -> ServerEntry {
    match serde_json::from_value::<RawEntry>(entry) {
        Ok(mut entry) => {
            let program = entry.take_program();
            ServerEntry {
                name,
                variables: entry.variables(program.as_ref()),
                extensions: std::mem::take(&mut entry.extensions),
                is_disabled: entry.disabled || entry.enabled == Some(false),
                spec: to_spec(entry, program, variables),
            }
        }
        Err(error) => ServerEntry {
            name,
            is_disabled: false,
            variables: Vec::new(),
            extensions: BTreeMap::new(),
            spec: Err(EntryError::Malformed(error.to_string())),
        },
    }
}

fn to_spec(
    entry: RawEntry,
    program: Option<String>,
    variables: &Variables,
) -> Result<ServerSpec, EntryError> {
    let has_url = match entry.kind.as_deref() {
        None => program.is_none(),
        Some("stdio" | "local") => false,
        Some("http" | "sse" | "streamable-http" | "streamableHttp" | "remote") => true,
        Some(other) => return Err(EntryError::UnknownType(other.to_owned())),
    };
    let fill = |value: &String| variables.fill(value);
    if has_url {
        return Ok(ServerSpec::Url {
            url: fill(
                entry
                    .http_url
                    .as_ref()
                    .or(entry.url.as_ref())
                    .ok_or(EntryError::NoTarget)?,
            )?,
            headers: pairs(&entry.headers, variables)?,
        });
    }
    Ok(ServerSpec::Command {
        command: fill(program.as_ref().ok_or(EntryError::NoTarget)?)?,
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

//! Parsing of configuration files.

use std::collections::BTreeMap;

use mcp_types::JsonObject;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::json;
use super::spec::{ConfigError, EntryError, EntryOAuth, GroupConfig, ServerEntry, ServerSpec};
use super::variables::{self, Variables};

impl GroupConfig {
    /// Parses the content of a file. Comments and trailing commas are allowed. Members of entries that are
    /// [ignored](ServerEntry::ignored) are a warning in the log.
    ///
    /// # Errors
    ///
    /// Returns [`ConfigError`] when the content is not valid JSON or lists no servers. The error of a
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
    #[serde(alias = "auth")]
    oauth: Option<Value>,
    #[serde(flatten)]
    ignored: BTreeMap<String, IgnoredAny>,
}

/// The member `oauth`, and `auth` of Cursor.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawOAuth {
    /// Gemini and Qwen.
    enabled: Option<bool>,
    /// The second name is Zed's, the third one Cursor's.
    #[serde(alias = "client_id", alias = "CLIENT_ID")]
    client_id: Option<String>,
    #[serde(alias = "client_secret", alias = "CLIENT_SECRET")]
    client_secret: Option<String>,
    #[serde(alias = "scope")]
    scopes: Option<RawScopes>,
    #[serde(flatten)]
    ignored: BTreeMap<String, IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RawScopes {
    /// Separated by spaces.
    Text(String),
    List(Vec<String>),
}

impl RawOAuth {
    fn scopes(&self) -> Vec<String> {
        match &self.scopes {
            None => Vec::new(),
            Some(RawScopes::Text(text)) => text.split_whitespace().map(str::to_owned).collect(),
            Some(RawScopes::List(scopes)) => scopes.clone(),
        }
    }

    fn fill(&self, variables: &Variables) -> Result<EntryOAuth, EntryError> {
        let fill = |value: &Option<String>| {
            let value = value.as_ref();
            value.map(|value| variables.fill(value)).transpose()
        };
        Ok(EntryOAuth {
            client_id: fill(&self.client_id)?,
            client_secret: fill(&self.client_secret)?,
            scopes: self.scopes(),
        })
    }
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

    /// Takes the registration for logins. Hosts also write `false` or a name there, which registers nothing.
    fn take_oauth(&mut self) -> Result<Option<RawOAuth>, EntryError> {
        let members = match self.oauth.take() {
            None | Some(Value::Bool(_)) => return Ok(None),
            Some(members @ Value::Object(_)) => members,
            Some(_) => {
                self.ignored.insert("auth".to_owned(), IgnoredAny);
                return Ok(None);
            }
        };
        let oauth: RawOAuth = serde_json::from_value(members)
            .map_err(|error| EntryError::Malformed(format!("`oauth`: {error}")))?;
        for name in oauth.ignored.keys() {
            self.ignored.insert(format!("oauth.{name}"), IgnoredAny);
        }
        Ok(Some(oauth).filter(|oauth| oauth.enabled != Some(false)))
    }

    /// Returns whether the entry is a URL and not a program.
    fn has_url(&self, has_program: bool) -> Result<bool, EntryError> {
        match self.kind.as_deref() {
            None => Ok(!has_program),
            Some("stdio" | "local") => Ok(false),
            Some("http" | "sse" | "streamable-http" | "streamableHttp" | "remote") => Ok(true),
            Some(other) => Err(EntryError::UnknownType(other.to_owned())),
        }
    }

    /// Returns the names of unknown members, and members for the other kind of server.
    fn ignored(&self, has_url: bool, has_program: bool, has_oauth: bool) -> Vec<String> {
        let other = if has_url {
            vec![
                ("command", has_program),
                ("args", !self.args.is_empty()),
                ("env", !self.env.is_empty()),
                ("envFile", self.env_file.is_some()),
                ("cwd", self.cwd.is_some()),
            ]
        } else {
            vec![
                ("url", self.url.is_some() || self.http_url.is_some()),
                ("headers", !self.headers.is_empty()),
                ("oauth", has_oauth),
            ]
        };
        let other = other.into_iter().filter(|(_, is_set)| *is_set);
        let other = other.map(|(name, _)| name.to_owned());
        self.ignored.keys().cloned().chain(other).collect()
    }

    /// Returns the names of variables in the members that a server gets.
    fn variables(&self, program: Option<&String>, oauth: Option<&RawOAuth>) -> Vec<String> {
        let single = [&self.env_file, &self.cwd, &self.url, &self.http_url];
        let login = oauth.map(|oauth| [&oauth.client_id, &oauth.client_secret]);
        let single = single.into_iter().chain(login.into_iter().flatten());
        let values = self.env.values().chain(self.headers.values());
        let texts = program.into_iter().chain(single.flatten());
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
    let mut parsed = ServerEntry {
        name,
        is_disabled: false,
        spec: Err(EntryError::NoTarget),
        variables: Vec::new(),
        ignored: Vec::new(),
        extensions: BTreeMap::new(),
    };
    match serde_json::from_value::<RawEntry>(entry) {
        Ok(entry) => {
            parsed.is_disabled = entry.disabled || entry.enabled == Some(false);
            parsed.spec = to_spec(entry, variables, &mut parsed);
        }
        Err(error) => parsed.spec = Err(EntryError::Malformed(error.to_string())),
    }
    if !parsed.ignored.is_empty() {
        let (server, members) = (&parsed.name, &parsed.ignored);
        tracing::warn!(server = %mcp_types::escaped(&server), ?members, "ignored members in a configuration file");
    }
    parsed
}

fn to_spec(
    mut entry: RawEntry,
    variables: &Variables,
    parsed: &mut ServerEntry,
) -> Result<ServerSpec, EntryError> {
    parsed.extensions = std::mem::take(&mut entry.extensions);
    let program = entry.take_program();
    let oauth = entry.take_oauth()?;
    let has_url = entry.has_url(program.is_some())?;
    parsed.ignored = entry.ignored(has_url, program.is_some(), oauth.is_some());
    parsed.variables = entry.variables(program.as_ref(), oauth.as_ref());
    let fill = |value: &String| variables.fill(value);
    if has_url {
        let url = entry.http_url.as_ref().or(entry.url.as_ref());
        return Ok(ServerSpec::Url {
            url: fill(url.ok_or(EntryError::NoTarget)?)?,
            headers: pairs(&entry.headers, variables)?,
            oauth: oauth.map(|oauth| oauth.fill(variables)).transpose()?,
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

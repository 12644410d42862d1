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
        let mut file: JsonObject = serde_json::from_str(&json::to_plain_json(text))?;
        let inputs = file.remove("inputs").unwrap_or_default();
        let defaults = inputs.as_array().into_iter().flatten();
        let variables = variables
            .clone()
            .defaults(defaults.filter_map(default_value));
        let servers = servers(file)?.ok_or(ConfigError::NoServers)?;
        let entries = servers
            .into_iter()
            .map(|(name, entry)| parse_entry(name, entry, &variables));
        Ok(Self::new(entries.collect()))
    }
}

/// Returns the servers of a file. The third name is Zed's.
fn servers(mut file: JsonObject) -> Result<Option<JsonObject>, serde_json::Error> {
    for name in ["mcpServers", "servers", "context_servers"] {
        match file.remove(name) {
            Some(Value::Object(servers)) => return Ok(Some(servers)),
            // An empty object of PHP.
            Some(Value::Array(servers)) if servers.is_empty() => {
                return Ok(Some(JsonObject::new()));
            }
            None | Some(Value::Null) => {}
            Some(_) if name == "mcpServers" => {
                let reason = "`mcpServers` must be an object: names with their entries";
                return Err(serde::de::Error::custom(reason));
            }
            // A setting of another kind.
            Some(_) => {}
        }
    }
    // opencode, in newer versions in the member `servers`. Other programs have settings there.
    let Some(Value::Object(mut mcp)) = file.remove("mcp") else {
        return Ok(None);
    };
    if let Some(Value::Object(servers)) = mcp.remove("servers") {
        return Ok(Some(servers));
    }
    mcp.retain(|_, entry| entry.is_object());
    Ok((!mcp.is_empty()).then_some(mcp))
}

/// Returns the variable of an input of VS Code, which its user enters, if it has a default.
fn default_value(input: &Value) -> Option<(String, String)> {
    let id = input.get("id")?.as_str()?;
    Some((format!("input:{id}"), as_text(input.get("default")?)?))
}

/// Returns text; numbers and booleans are written as JSON.
fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        _ => None,
    }
}

/// Members of an entry that are text. An empty one is absent.
const TEXTS: [&str; 6] = ["type", "url", "httpUrl", "cwd", "envFile", "command"];

/// Other names of members, and those that are used here.
const ALIASES: [(&str, &str); 5] = [
    ("transportType", "type"),
    ("transport", "type"),
    ("environment", "env"),
    ("serverUrl", "url"),
    ("auth", "oauth"),
];

/// Rewrites an entry in the spelling that [`RawEntry`] reads: `null` is absent, the members of a nested `transport`
/// stand beside the others, numbers in `args` are text, and `[]` is an object where only an object can stand.
fn normalize(mut entry: JsonObject) -> Result<JsonObject, EntryError> {
    let is_nested = entry.get("transport").is_some_and(Value::is_object);
    if is_nested && let Some(Value::Object(transport)) = entry.remove("transport") {
        for (name, value) in transport {
            if entry.get(&name).is_none_or(Value::is_null) {
                entry.insert(name, value);
            }
        }
    }
    for (alias, name) in ALIASES {
        if let Some(value) = entry.remove(alias)
            && entry.get(name).is_none_or(Value::is_null)
        {
            entry.insert(name.to_owned(), value);
        }
    }
    let is_absent = |name: &str, value: &Value| {
        value.is_null() || TEXTS.contains(&name) && value.as_str().is_some_and(str::is_empty)
    };
    entry.retain(|name, value| !is_absent(name, value));
    for (name, value) in &mut entry {
        match (&**name, value) {
            ("command", Value::Array(words)) => to_texts(name, words)?,
            // Older versions of Zed.
            ("command", Value::Object(command)) => *command = normalize(std::mem::take(command))?,
            ("args", Value::Array(words)) => to_texts(name, words)?,
            ("args", _) => return Err(malformed(name, "a list of strings")),
            ("env" | "headers" | "extensions", value) => to_object(name, value)?,
            (_, value) if TEXTS.contains(&&**name) && !value.is_string() => {
                return Err(malformed(name, "a string"));
            }
            _ => {}
        }
    }
    Ok(entry)
}

fn to_texts(name: &str, words: &mut Vec<Value>) -> Result<(), EntryError> {
    words.retain(|word| !word.is_null());
    for word in words {
        *word = as_text(word)
            .ok_or_else(|| malformed(name, "a list of strings"))?
            .into();
    }
    Ok(())
}

fn to_object(name: &str, value: &mut Value) -> Result<(), EntryError> {
    match value {
        Value::Object(_) => Ok(()),
        Value::Array(items) if items.is_empty() => {
            *value = JsonObject::new().into();
            Ok(())
        }
        _ => Err(malformed(name, "an object")),
    }
}

fn malformed(name: &str, expected: &str) -> EntryError {
    EntryError::Malformed(format!("`{name}` must be {expected}"))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawEntry {
    #[serde(rename = "type")]
    kind: Option<String>,
    command: Option<RawCommand>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: JsonObject,
    env_file: Option<String>,
    cwd: Option<String>,
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
    oauth: Option<Value>,
    #[serde(flatten)]
    ignored: BTreeMap<String, IgnoredAny>,
}

/// Members of `oauth` beside those of [`EntryOAuth`], which hosts write.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawOAuth {
    /// Gemini and Qwen.
    enabled: Option<bool>,
    /// Claude Code: the registered redirect is `http://localhost:PORT/callback`.
    #[serde(alias = "callback_port")]
    callback_port: Option<u16>,
    #[serde(flatten)]
    entry: EntryOAuth,
    #[serde(flatten)]
    ignored: BTreeMap<String, IgnoredAny>,
}
/// Returns the members that may have variables.
fn login_texts(oauth: &mut EntryOAuth) -> [&mut Option<String>; 7] {
    [
        &mut oauth.client_id,
        &mut oauth.client_secret,
        &mut oauth.issuer,
        &mut oauth.resource,
        &mut oauth.allow_missing_pkce,
        &mut oauth.redirect_uri,
        &mut oauth.account,
    ]
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
    fn take_oauth(&mut self) -> Result<Option<EntryOAuth>, EntryError> {
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
        if oauth.enabled == Some(false) {
            return Ok(None);
        }
        let callback = |port: u16| format!("http://localhost:{port}/callback");
        let mut entry = oauth.entry;
        entry.redirect_uri = entry.redirect_uri.or(oauth.callback_port.map(callback));
        Ok(Some(entry))
    }

    /// Returns whether the entry is a URL and not a program.
    fn has_url(&self, has_program: bool) -> Result<bool, EntryError> {
        let Some(kind) = &self.kind else {
            return Ok(!has_program);
        };
        // `streamable-http`, `streamableHttp`, `STREAMABLE_HTTP`
        let letters = kind.chars().filter(char::is_ascii_alphanumeric);
        match &*letters.collect::<String>().to_ascii_lowercase() {
            "stdio" | "local" => Ok(false),
            "http" | "sse" | "streamablehttp" | "remote" => Ok(true),
            _ => Err(EntryError::UnknownType(kind.clone())),
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
    fn variables(&self, program: Option<&String>, oauth: Option<&mut EntryOAuth>) -> Vec<String> {
        let single = [&self.env_file, &self.cwd, &self.url, &self.http_url];
        let login = oauth.map(login_texts).into_iter().flatten();
        let single = single.into_iter().chain(login.map(|text| &*text));
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
    match raw_entry(&parsed.name, entry) {
        Ok(entry) => {
            parsed.is_disabled = entry.disabled || entry.enabled == Some(false);
            parsed.spec = to_spec(entry, variables, &mut parsed);
        }
        Err(error) => parsed.spec = Err(error),
    }
    if !parsed.ignored.is_empty() {
        let (server, members) = (&parsed.name, &parsed.ignored);
        tracing::warn!(server = %mcp_types::escaped(&server), ?members, "ignored members in a configuration file");
    }
    parsed
}

fn raw_entry(name: &str, entry: Value) -> Result<RawEntry, EntryError> {
    // Answers about the server would count for those of single clients, whose name is empty.
    if name.is_empty() {
        return Err(EntryError::Malformed("its name is empty".to_owned()));
    }
    let Value::Object(entry) = entry else {
        let reason = "it must be an object with `command` or `url`";
        return Err(EntryError::Malformed(reason.to_owned()));
    };
    serde_json::from_value(normalize(entry)?.into())
        .map_err(|error| EntryError::Malformed(error.to_string()))
}

fn to_spec(
    mut entry: RawEntry,
    variables: &Variables,
    parsed: &mut ServerEntry,
) -> Result<ServerSpec, EntryError> {
    parsed.extensions = std::mem::take(&mut entry.extensions);
    let program = entry.take_program();
    let mut oauth = entry.take_oauth()?;
    let has_url = entry.has_url(program.is_some())?;
    parsed.ignored = entry.ignored(has_url, program.is_some(), oauth.is_some());
    parsed.variables = entry.variables(program.as_ref(), oauth.as_mut());
    let fill = |value: &String| variables.fill(value);
    if has_url {
        let url = entry.http_url.as_ref().or(entry.url.as_ref());
        let url = fill(url.ok_or(EntryError::NoTarget)?)?;
        let headers = pairs(&entry.headers, variables)?;
        for text in oauth.iter_mut().flat_map(login_texts).flatten() {
            *text = fill(text)?;
        }
        return Ok(ServerSpec::Url {
            url,
            headers,
            oauth,
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
        if value.is_null() {
            continue;
        }
        let text = as_text(value).ok_or_else(|| malformed(name, "a string"))?;
        pairs.push((name.clone(), variables.fill(&text)?));
    }
    Ok(pairs)
}

//! `mcp.json`: which servers there are, in the dialects of Claude, VS Code and Cursor.
//!
//! They differ in the name of the one top member (`mcpServers`, `servers`), in how variables are
//! written, and in what they let out; every file is read in all of them at once.

mod files;
mod json;
mod variables;

use std::path::PathBuf;
use std::{fmt, io};

use mcp_types::JsonObject;
use serde::Deserialize;
use serde_json::Value;

pub use variables::Variables;

/// The servers of a file, in their order.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct GroupConfig {
    /// The servers.
    pub servers: Vec<ServerEntry>,
}

/// A server of a file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServerEntry {
    /// Its name in the file.
    pub name: String,
    /// The file says that it is not to be used.
    pub is_disabled: bool,
    /// How to reach it, or what is wrong with the entry: the others can still be used.
    pub spec: Result<ServerSpec, EntryError>,
}

/// How to reach a server. The text for debugging leaves out values that may be secrets.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerSpec {
    /// Start a program and talk to it over its standard streams.
    #[non_exhaustive]
    Command {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables of its environment.
        env: Vec<(String, String)>,
        /// A file with more of them.
        env_file: Option<String>,
        /// The folder that it runs in.
        cwd: Option<String>,
    },
    /// Talk to a URL.
    #[non_exhaustive]
    Url {
        /// The URL.
        url: String,
        /// Headers of every request.
        headers: Vec<(String, String)>,
    },
}

impl fmt::Debug for ServerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |pairs: &[(String, String)]| -> Vec<String> {
            pairs.iter().map(|(name, _)| name.clone()).collect()
        };
        match self {
            Self::Command {
                command, args, env, ..
            } => f
                .debug_struct("Command")
                .field("command", command)
                .field("args", &args.len())
                .field("env", &names(env))
                .finish_non_exhaustive(),
            Self::Url { url, headers } => f
                .debug_struct("Url")
                .field("url", &public(url))
                .field("headers", &names(headers))
                .finish(),
        }
    }
}

/// A URL without what may be secret: a user, a query.
fn public(url: &str) -> String {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let url = url.get(..end).unwrap_or_default();
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
}

/// A file cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// It is no JSON, not even with comments.
    #[error("the file is no JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// It names no servers.
    #[error("the file has neither `mcpServers` nor `servers`")]
    NoServers,
    /// It cannot be had, or is longer than 1 MiB.
    #[error("the file {path:?} cannot be read: {source}")]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// An entry of a file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EntryError {
    /// It has another shape.
    #[error("the entry is malformed: {0}")]
    Malformed(String),
    /// It names neither a command nor a URL.
    #[error("the entry has neither `command` nor `url`")]
    NoTarget,
    /// It uses a transport that does not exist.
    #[error("the transport {0:?} is unknown; there are `stdio`, `http` and `sse`")]
    UnknownType(String),
    /// A variable has no value.
    #[error("the variable `{0}` has no value")]
    NoValue(String),
}

impl GroupConfig {
    /// Reads the text of a file. Comments and commas too many are fine.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] when the file as a whole cannot be read; what is wrong with one entry is
    /// told by the entry.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp_client::group::{GroupConfig, ServerSpec, Variables};
    ///
    /// let text = r#"{"mcpServers": {"files": {"command": "files", "args": ["${userHome}"]}}}"#;
    /// let variables = Variables::new().set("userHome", "/home/ada");
    /// let config = GroupConfig::parse(text, &variables)?;
    /// let Ok(ServerSpec::Command { args, .. }) = &config.servers[0].spec else { panic!() };
    /// assert_eq!(args[0], "/home/ada");
    /// # Ok::<(), mcp_client::group::ConfigError>(())
    /// ```
    pub fn parse(text: &str, variables: &Variables) -> Result<Self, ConfigError> {
        let file: File = serde_json::from_str(&json::plain(text))?;
        let defaults = file.inputs.iter().filter_map(Input::default_value);
        let variables = variables.clone().defaults(defaults);
        let servers = file.mcp_servers.or(file.servers);
        let servers = servers.ok_or(ConfigError::NoServers)?.into_iter();
        Ok(Self {
            servers: servers
                .map(|(name, entry)| read(name, entry, &variables))
                .collect(),
        })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    mcp_servers: Option<JsonObject>,
    servers: Option<JsonObject>,
    #[serde(default)]
    inputs: Vec<Input>,
}

/// A value that VS Code asks its user for.
#[derive(Deserialize)]
struct Input {
    id: String,
    default: Option<String>,
}

impl Input {
    fn default_value(&self) -> Option<(String, String)> {
        let value = self.default.clone()?;
        Some((format!("input:{}", self.id), value))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
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
}

fn read(name: String, entry: Value, variables: &Variables) -> ServerEntry {
    match serde_json::from_value::<Entry>(entry) {
        Ok(entry) => ServerEntry {
            name,
            is_disabled: entry.disabled || entry.enabled == Some(false),
            spec: spec(entry, variables),
        },
        Err(error) => ServerEntry {
            name,
            is_disabled: false,
            spec: Err(EntryError::Malformed(error.to_string())),
        },
    }
}

fn spec(entry: Entry, variables: &Variables) -> Result<ServerSpec, EntryError> {
    let wants_url = match entry.kind.as_deref() {
        None => entry.command.is_none(),
        Some("stdio") => false,
        Some("http" | "sse" | "streamable-http" | "streamableHttp") => true,
        Some(other) => return Err(EntryError::UnknownType(other.to_owned())),
    };
    let fill = |text: &String| variables.fill(text);
    if wants_url {
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

/// Names and values; numbers and booleans are values as well, and null is none.
fn pairs(members: &JsonObject, variables: &Variables) -> Result<Vec<(String, String)>, EntryError> {
    let mut pairs = Vec::new();
    for (name, value) in members {
        let value = match value {
            Value::Null => continue,
            Value::String(text) => variables.fill(text)?,
            Value::Bool(_) | Value::Number(_) => value.to_string(),
            _ => return Err(EntryError::Malformed(format!("`{name}` must be a text"))),
        };
        pairs.push((name.clone(), value));
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests;

//! The servers in a configuration file, and the errors of its entries.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::{fmt, io};

use serde::{Deserialize, Deserializer};

use super::approval::{Approval, PendingCommand, program_name};
use crate::error::Error;
use crate::group::consents::Consents;

/// The servers in a configuration file, in the file's order.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct GroupConfig {
    /// The servers.
    pub servers: Vec<ServerEntry>,
    /// The file that was read.
    pub(in crate::group) file: Option<Arc<str>>,
    pub(in crate::group) approval: Approval,
}

impl GroupConfig {
    pub(super) fn new(servers: Vec<ServerEntry>) -> Self {
        Self {
            servers,
            file: None,
            approval: Approval::default(),
        }
    }

    /// Sets a hook that is called before a command of the file is run for the first time, and again
    /// before it is run with other arguments or variables. A command for which it returns false, or panics, is
    /// not run: its server cannot be started. Default: every command is run.
    ///
    /// A configuration file can run any program with this process's permissions. Set a hook
    /// unless the user has written the file: files of repositories and files that another program
    /// or a language model can write are not trusted.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::group::{GroupConfig, PendingCommand};
    ///
    /// # async fn user_agrees(_: &str) -> bool { true }
    /// let config = GroupConfig::read("mcp.json")?.approve(|command: PendingCommand| async move {
    ///     let line = format!("{} {:?} {:?}", command.command, command.args, command.env);
    ///     user_agrees(&format!("Run {line} as the server {}?", command.server)).await
    /// });
    /// # Ok::<(), mcp::group::ConfigError>(())
    /// ```
    #[must_use]
    pub fn approve<F, Fut>(mut self, hook: F) -> Self
    where
        F: Fn(PendingCommand) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = bool> + Send + 'static,
    {
        self.approval = Approval {
            hook: Some(Arc::new(move |command| Box::pin(hook(command)))),
            agreed: self.approval.agreed,
            ..Approval::default()
        };
        self
    }

    /// Keeps the commands to which the hook of [`approve`](Self::approve) has agreed, such as in a file for later runs of the
    /// program: the hook is not called for them again. Default: in memory.
    #[must_use]
    pub fn remember(mut self, consents: Consents) -> Self {
        self.approval.agreed = consents;
        self
    }
}

/// A server of a configuration file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServerEntry {
    /// The server's name in the file.
    pub name: String,
    /// The file disables the server.
    pub is_disabled: bool,
    /// The program or URL of the server, or this entry's error. Other entries are not affected.
    pub spec: Result<ServerSpec, EntryError>,
    /// Names of the variables whose values are in `spec`: `TOKEN` for `${TOKEN}`. A program that asks its user shows
    /// them: the server gets the values.
    pub variables: Vec<String>,
    /// Names of the entry's members that are ignored, such as `timeout`, `oauth.callbackHost`, or `headers` beside a
    /// `command`. [`GroupConfig::parse`] logs them as a warning.
    pub ignored: Vec<String>,
    /// Extensions of the server that only it and its clients know, with patterns of their methods: the member
    /// `extensions`, such as `{"com.example/budget": ["budget/*"]}`. A gateway passes their messages on.
    pub extensions: BTreeMap<String, Vec<String>>,
}

/// The program or URL of a server. `Debug` omits values that may be secrets.
#[derive(Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ServerSpec {
    /// A program that is started and called over its standard streams.
    #[non_exhaustive]
    Command {
        /// The program.
        command: String,
        /// The arguments.
        args: Vec<String>,
        /// Environment variables.
        env: Vec<(String, String)>,
        /// A file with further environment variables.
        env_file: Option<String>,
        /// The working directory.
        cwd: Option<String>,
    },
    /// A server that is called over HTTP.
    #[non_exhaustive]
    Url {
        /// The URL.
        url: String,
        /// Headers of every request.
        headers: Vec<(String, String)>,
        /// The registration for logins.
        oauth: Option<EntryOAuth>,
    },
}

/// The registration of a program at an entry's authorization server: the member `oauth`, or `auth` of Cursor.
/// `Debug` omits the secret.
///
/// It applies to the client's login, such as [`GroupBuilder::oauth`](super::super::GroupBuilder::oauth). Without a
/// login it is ignored, with a warning in the log.
///
/// [`resource`](Self::resource), [`omit_resource`](Self::omit_resource), [`issuer`](Self::issuer),
/// [`allow_missing_pkce`](Self::allow_missing_pkce) and [`redirect_uri`](Self::redirect_uri) decide which token a
/// login obtains and who receives it. Show them to the user before the login if somebody else may have written the
/// file.
#[derive(Clone, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct EntryOAuth {
    /// The client id: `clientId`.
    // The second name is Zed's, the third one Cursor's.
    #[serde(alias = "client_id", alias = "CLIENT_ID")]
    pub client_id: Option<String>,
    /// The client secret: `clientSecret`.
    #[serde(alias = "client_secret", alias = "CLIENT_SECRET")]
    pub client_secret: Option<String>,
    /// The method that sends the secret, `client_secret_basic` or `client_secret_post`: `tokenEndpointAuthMethod`.
    #[serde(
        rename = "tokenEndpointAuthMethod",
        alias = "token_endpoint_auth_method"
    )]
    pub auth_method: Option<String>,
    /// The scopes to request when the server names none: `scopes`, or `scope`.
    #[serde(alias = "scope", deserialize_with = "scopes")]
    pub scopes: Vec<String>,
    /// The only authorization server that is used: `issuer`.
    pub issuer: Option<String>,
    /// The `resource` parameter: `resource`. Default: the server's identifier in its metadata.
    pub resource: Option<String>,
    /// True if the `resource` parameter is omitted: `omitResource`.
    #[serde(alias = "omit_resource")]
    pub omit_resource: bool,
    /// The issuer whose metadata need not announce PKCE: `allowMissingPkce`.
    #[serde(alias = "allow_missing_pkce")]
    pub allow_missing_pkce: Option<String>,
    /// The registered redirect URI: `redirectUri`, or `callbackPort` for `http://localhost:PORT/callback`.
    // Gemini and opencode.
    #[serde(alias = "redirect_uri")]
    pub redirect_uri: Option<String>,
    /// The user, to keep two logins at one URL apart: `account`. Without it, a URL has one login.
    pub account: Option<String>,
}

/// Scopes in a list, or in a text that separates them by spaces.
fn scopes<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum RawScopes {
        Text(String),
        List(Vec<String>),
    }

    Ok(match Option::deserialize(from)? {
        None => Vec::new(),
        Some(RawScopes::Text(text)) => text.split_whitespace().map(str::to_owned).collect(),
        Some(RawScopes::List(scopes)) => scopes,
    })
}

impl fmt::Debug for EntryOAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EntryOAuth")
            .field("client_id", &self.client_id)
            .field("has_secret", &self.client_secret.is_some())
            .field("auth_method", &self.auth_method)
            .field("scopes", &self.scopes)
            .field("issuer", &self.issuer)
            .field("resource", &self.resource)
            .field("omit_resource", &self.omit_resource)
            .field("allow_missing_pkce", &self.allow_missing_pkce)
            .field("redirect_uri", &self.redirect_uri)
            .field("account", &self.account)
            .finish()
    }
}

impl ServerSpec {
    /// A program with arguments, without environment variables, in this process's working directory.
    pub fn program(
        command: impl Into<String>,
        args: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        Self::Command {
            command: command.into(),
            args: args.into_iter().map(Into::into).collect(),
            env: Vec::new(),
            env_file: None,
            cwd: None,
        }
    }

    /// A server at a URL, with headers for every request.
    pub fn http(
        url: impl Into<String>,
        headers: impl IntoIterator<Item = (String, String)>,
    ) -> Self {
        Self::Url {
            url: url.into(),
            headers: headers.into_iter().collect(),
            oauth: None,
        }
    }
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
                .field("command", &program_name(command))
                .field("args", &args.len())
                .field("env", &names(env))
                .finish_non_exhaustive(),
            Self::Url {
                url,
                headers,
                oauth,
            } => f
                .debug_struct("Url")
                .field("url", &without_secrets(url))
                .field("headers", &names(headers))
                .field("oauth", oauth)
                .finish(),
        }
    }
}

/// Removes user, password, query and fragment from a URL.
fn without_secrets(url: &str) -> String {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let url = url.get(..end).unwrap_or_default();
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
}

/// The error when a configuration file cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file is not valid JSON. Comments and trailing commas are allowed.
    #[error("the file is not valid JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The file lists no servers.
    #[error("the file lists no servers; it has neither `mcpServers` nor `servers`")]
    NoServers,
    /// The file does not exist, is not readable, or is longer than 1 MiB.
    #[error("the file {path:?} cannot be read: {source}")]
    Unreadable {
        /// The file path.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        Self::other(error)
    }
}

/// The error of one entry in a configuration file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EntryError {
    /// A member has the wrong type.
    #[error("the entry is malformed: {0}")]
    Malformed(String),
    /// The entry has neither a command nor a URL.
    #[error("the entry has neither `command` nor `url`")]
    NoTarget,
    /// The transport is unknown.
    #[error("the transport {0:?} is unknown; use `stdio`, `http` or `sse`")]
    UnknownType(String),
    /// A variable has no value.
    #[error("the variable `{0}` has no value")]
    NoValue(String),
}

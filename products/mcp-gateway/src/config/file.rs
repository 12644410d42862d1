//! The tables of a configuration file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mcp_client::group::Naming;
use mcp_files::read;
use serde::Deserialize;

use super::error::ConfigError;
use super::text::ConfigText;
use crate::search::ToolMode;

/// Largest file size in bytes.
const MAX_FILE_SIZE: u64 = 1 << 20;

/// A configuration file of a gateway. A key that is not documented is an error.
///
/// # Examples
///
/// ```
/// use mcp::gateway::config::GatewayConfig;
/// use mcp::group::Variables;
///
/// let config = GatewayConfig::parse(
///     r#"
///     name = "tools"
///
///     [servers.weather]
///     url = "https://weather.example.com/mcp"
///     headers = { Authorization = "Bearer ${WEATHER_TOKEN}" }
///     deny = ["admin_*"]
///     "#,
/// )?;
/// let variables = Variables::new().env("WEATHER_TOKEN", "t0ken");
/// let http = mcp::HttpClient::new()?;
/// let gateway = config.gateway(&variables, |client, spec| client.connect(spec), http)?;
/// # Ok::<(), mcp::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct GatewayConfig {
    /// The name that clients see. Default: `gateway`.
    #[serde(default = "default_name")]
    pub name: String,
    /// Names of tools and prompts whose server has no prefix: `prefixed` (default) or `plain`.
    #[serde(default)]
    pub naming: Naming,
    /// The maximum number of characters of a tool's name: 16 to 64. Default: 48.
    pub max_tool_name: Option<usize>,
    /// The folder for the [stored lists](crate::GatewayServer::store_lists) of all servers. Default: `mcp gateway`
    /// stores them in the user's cache, a program without it does not store them.
    pub manifests: Option<PathBuf>,
    /// The gateway's address. A gateway on standard streams does not use it.
    pub http: Option<HttpConfig>,
    /// The access tokens that clients need over HTTP. Default: none.
    pub authorization: Option<AuthorizationConfig>,
    /// The page for the operator of `mcp gateway`. Default: none.
    pub admin: Option<AdminConfig>,
    /// The way in which clients find the tools.
    #[serde(default)]
    pub tools: ToolsConfig,
    /// The servers, by name.
    #[serde(default)]
    pub servers: BTreeMap<String, ServerConfig>,
    /// The folder of the file.
    #[serde(skip)]
    pub(super) folder: Option<PathBuf>,
}

fn default_name() -> String {
    "gateway".to_owned()
}

/// The start of a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum StartConfig {
    /// With the gateway.
    #[default]
    Eager,
    /// At its first call. Its lists are those of a file in the folder `manifests`.
    Lazy,
}

/// The table `http`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct HttpConfig {
    /// The address to listen at, such as `127.0.0.1:8000`.
    pub listen: Option<String>,
    /// The host names that requests may name when others than this machine may connect.
    #[serde(default)]
    pub allowed_hosts: Vec<String>,
}

/// The table `admin`: a page with health, tools, calls and failures of the servers, to this machine only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct AdminConfig {
    /// The port at 127.0.0.1; 0 is any free port.
    pub port: u16,
}

/// The table `tools`. It is read at the start only.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ToolsConfig {
    /// `list` (default): clients list all tools. `search`: three tools that find, describe and call the others.
    pub mode: ToolMode,
    /// Patterns of tools that stay listed with `search`, by their names for clients.
    pub always_list: Vec<String>,
    /// The lock file with the definitions that a user has approved; see [`Gateway::pin`](crate::Gateway::pin). Default:
    /// none.
    pub pin: Option<PathBuf>,
    /// The tools and prompts of servers that the lock file does not have: `approve` (default) or `hold`; see
    /// [`PinFile::hold_new`](mcp_toolset::PinFile::hold_new). It needs `pin`.
    pub pin_new: Option<PinNew>,
    /// Limits of `search_tools` and `describe_tools` together, in the mode `search`. Default: none.
    pub limits: Option<LimitsConfig>,
}

/// The tools and prompts of a server at its first use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum PinNew {
    /// Approves them, with a warning in the log.
    #[default]
    Approve,
    /// Holds them until a user approves them.
    Hold,
}

/// The table `authorization`: clients need an access token of an issuer.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct AuthorizationConfig {
    /// The gateway's public URL, such as `https://mcp.example.com/mcp`.
    pub resource: String,
    /// The token issuers.
    pub issuers: Vec<String>,
    /// Audiences that are accepted besides the public URL.
    #[serde(default)]
    pub audiences: Vec<String>,
    /// The scopes that clients can ask for.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// The scopes that each token needs.
    #[serde(default)]
    pub required_scopes: Vec<String>,
}

/// A table of `servers`. It has either `url` or `command`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ServerConfig {
    /// The URL of a server over HTTP.
    pub url: Option<ConfigText>,
    /// Headers of each request to an HTTP server.
    pub headers: BTreeMap<String, ConfigText>,
    /// OpenAPI document of an HTTP service, whose operations become tools. `url` is then the base URL.
    pub openapi: Option<OpenApiConfig>,
    /// Calls a server over HTTP in the name of the gateway's callers.
    pub token_exchange: Option<TokenExchangeConfig>,
    /// Names the caller to a server over HTTP.
    pub forward_identity: Option<IdentityConfig>,
    /// Program of a server on standard streams.
    pub command: Option<ConfigText>,
    /// The program's arguments.
    pub args: Vec<ConfigText>,
    /// The program's environment variables.
    pub env: BTreeMap<String, ConfigText>,
    /// The program's working directory.
    pub cwd: Option<ConfigText>,
    /// The protocol: `auto`, `legacy`, or a revision such as `2026-07-28`. Default: `auto`.
    pub protocol: Option<String>,
    /// The time limit of a response without progress, in seconds. Default: 60.
    pub timeout_seconds: Option<f64>,
    /// The start of the server. Default: with the gateway.
    pub start: StartConfig,
    /// The time without calls after which the server is stopped until its next call, in seconds. Default: never.
    pub idle_timeout_seconds: Option<f64>,
    /// The time between two checks of the running server, in seconds. Default: no checks.
    pub health_check_seconds: Option<f64>,
    /// Lets all calls of a caller share one session or process.
    pub one_session: bool,
    /// Lets all callers share the sessions of a server that keeps nothing in them.
    pub share_sessions: bool,
    /// Calls the server with the name and version of the client that makes the call.
    pub forward_client_name: bool,
    /// Leaves the server out.
    pub disabled: bool,
    /// The prefix of tool and prompt names; an empty prefix leaves names as they are.
    pub prefix: Option<String>,
    /// Patterns of the tools that clients may use; `*` stands for any characters, `?` for one. Default: all.
    pub allow: Option<Vec<String>>,
    /// Patterns of tools that are left out.
    pub deny: Vec<String>,
    /// Limits that all tool calls share.
    pub limits: Option<LimitsConfig>,
    /// The callers that may use the server. Default: all.
    pub visible_to: Option<AccessConfig>,
    /// Extensions that only the server and its clients know, with patterns of their methods.
    pub extensions: BTreeMap<String, Vec<String>>,
    /// Tool options, by the names that the server gives them.
    pub tools: BTreeMap<String, ToolConfig>,
}

/// The table `token_exchange` of a server: an authorization server gives the gateway a token of the server for the
/// token of each caller (RFC 8693). The gateway needs the table `authorization`.
///
/// Lists and subscriptions have no caller. They use the server's `headers`, or the login of `mcp login`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct TokenExchangeConfig {
    /// The issuer of the server's tokens.
    pub issuer: String,
    /// The gateway's client id at the issuer.
    pub client_id: String,
    /// The gateway's client secret at the issuer.
    pub client_secret: ConfigText,
    /// Audience of the tokens. Default: the server's URL.
    pub resource: Option<String>,
    /// Scopes of the tokens. Default: those that the issuer chooses.
    #[serde(default)]
    pub scopes: Vec<String>,
}

/// The table `forward_identity` of a server: a caller's calls have a header with a short-lived signed token (JWT). For
/// servers in the own network. The gateway needs the table `authorization`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct IdentityConfig {
    /// The header's name.
    pub header: String,
    /// The private key that signs: PKCS#8 in PEM.
    pub key: ConfigText,
    /// The key's id in the token (`kid`).
    pub key_id: Option<String>,
    /// The gateway (`iss`).
    pub issuer: String,
    /// The server (`aud`).
    pub audience: String,
}

/// The table `openapi` of a server.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct OpenApiConfig {
    /// The document's path, in JSON or YAML.
    pub document: PathBuf,
    /// Tags of the operations that become tools. Default: all operations.
    pub tags: Option<Vec<String>>,
    /// Methods of the operations that become tools, such as `GET`. Default: all.
    pub methods: Option<Vec<String>>,
    /// Size of a response in bytes. Default: 1 MiB.
    pub max_response_bytes: Option<usize>,
    /// Size of the document in bytes. Default: 32 MiB.
    pub max_document_bytes: Option<usize>,
}

/// A table of `servers.NAME.tools`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ToolConfig {
    /// The exact name for clients, without a prefix.
    pub name: Option<String>,
    /// The description for clients.
    pub description: Option<String>,
    /// Arguments that clients do not see, with the values that each call has.
    pub hidden_arguments: BTreeMap<String, HiddenValue>,
    /// Limits of the tool's calls.
    pub limits: Option<LimitsConfig>,
    /// The callers that may use the tool. Default: those of the server.
    pub visible_to: Option<AccessConfig>,
}

/// The value of a hidden argument. `Debug` omits it.
#[derive(Clone, PartialEq, Deserialize)]
#[serde(untagged)]
#[expect(
    unnameable_types,
    reason = "files contain values, programs use the builder"
)]
pub enum HiddenValue {
    Text(ConfigText),
    Other(serde_json::Value),
}

impl std::fmt::Debug for HiddenValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HiddenValue(…)")
    }
}

/// Call limits.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct LimitsConfig {
    /// Number of calls in a period.
    pub calls: Option<u32>,
    /// The period of `calls`, in seconds. Default: 60.
    pub per_seconds: Option<f64>,
    /// Number of calls that run at the same time.
    pub concurrency: Option<usize>,
    /// Size of a result as JSON, in bytes.
    pub max_result_bytes: Option<usize>,
    /// Time limit of a call, in seconds.
    pub timeout_seconds: Option<f64>,
}

/// Callers that may use a server or a tool: those with all `scopes`, and with one of the `subjects` if there are
/// any. A gateway without authorization knows no callers, and shows such items to nobody.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct AccessConfig {
    /// Scopes that the token must have.
    pub scopes: Vec<String>,
    /// The subjects (`sub`) of tokens.
    pub subjects: Vec<String>,
}

impl GatewayConfig {
    /// Parses the content of a file.
    ///
    /// # Errors
    ///
    /// Returns [`ConfigError::Syntax`] with the position.
    pub fn parse(content: &str) -> Result<Self, ConfigError> {
        // The message of the error alone: its long form repeats the line, which may contain a secret.
        toml::from_str(content).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            let before = content.get(..start).unwrap_or_default();
            let line_start = before.rfind('\n').map_or(0, |at| at + 1);
            let column = before.get(line_start..).unwrap_or_default();
            ConfigError::Syntax {
                line: before.matches('\n').count() + 1,
                column: column.chars().count() + 1,
                message: error.message().to_owned(),
            }
        })
    }

    /// Reads a file of up to 1 MiB. Its paths are relative to its folder: those of programs with a path separator, of
    /// `cwd`, documents, secrets, `manifests` and pins. With [`parse`](Self::parse) they are relative to the process's
    /// working directory.
    ///
    /// # Errors
    ///
    /// Returns a [`ConfigError`] when the file cannot be read or parsed.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ConfigError> {
        let path = path.as_ref();
        let content = read(path, MAX_FILE_SIZE).map_err(|source| ConfigError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        Ok(Self {
            folder: absolute.parent().map(Path::to_owned),
            ..Self::parse(&content)?
        })
    }

    /// Returns a path of the file.
    pub(super) fn path(&self, path: &Path) -> PathBuf {
        let folder = self.folder.as_deref().unwrap_or(Path::new(""));
        folder.join(path)
    }
}

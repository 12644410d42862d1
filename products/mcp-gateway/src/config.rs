//! Configuration files of gateways, in TOML: [`GatewayConfig`].
//!
//! # Every key
//!
//! ```
//! use mcp::gateway::config::GatewayConfig;
//! use mcp::group::Variables;
//! use mcp::prelude::*;
//!
//! # fn main() -> mcp::Result<()> {
//! let file = r#"
//! name = "tools"                      # for clients; default "gateway"
//! manifests = "/var/cache/gateway"    # lists of the last run, until the servers have started
//! naming = "prefixed"                 # `server__tool`; or "plain": without prefix unless taken
//! max_tool_name = 48                  # hosts put `mcp__NAME__` in front; model providers accept 64 characters
//!
//! [tools]                             # read at the start
//! mode = "search"                     # three tools that find the others; default "list"
//! always_list = ["weather__forecast"] # tools that stay listed
//! pin = "/var/lib/gateway/mcp.lock"   # definitions that a user has approved; default: those of the servers
//! pin_new = "hold"                    # hold the tools and prompts of new servers; default "approve"
//! limits = { calls = 60 }             # searches of a caller in a minute
//!
//! [http]                              # not used on standard streams
//! listen = "127.0.0.1:8000"
//! allowed_hosts = ["mcp.example.com"]
//!
//! [authorization]                     # clients need an access token
//! resource = "https://mcp.example.com/mcp"
//! issuers = ["https://login.example.com"]
//! audiences = ["https://mcp.example.com"]
//! scopes = ["files", "admin"]         # that clients can ask for
//! required_scopes = ["files"]         # that each token needs
//!
//! [admin]                             # a page for the operator
//! port = 9000                         # at 127.0.0.1
//!
//! [servers.weather]                   # over HTTP
//! url = "https://weather.example.com/mcp"
//! headers = { Authorization = "Bearer ${WEATHER_TOKEN}" }
//! protocol = "auto"                   # or "legacy", or a revision
//! timeout_seconds = 20                # of a response without progress; default 60
//!
//! [servers.files]                     # on standard streams
//! command = "npx"
//! args = ["-y", "@modelcontextprotocol/server-filesystem", "/data"]
//! env = { TOKEN = "file:/run/secrets/files" }
//! cwd = "/data"
//! one_session = true                  # one process for all calls of a caller
//! forward_client_name = false         # true: calls have the name of the client instead of the gateway's
//! share_sessions = false              # true: callers share sessions; for servers without a state
//! start = "lazy"                      # at the first call; default "eager"
//! idle_timeout_seconds = 300          # stopped until its next call; default: never
//! health_check_seconds = 30           # closed and started again after two failures; default: no checks
//! disabled = false
//! prefix = "fs"                       # "" for none
//! allow = ["read_*", "list_*"]        # `*` any characters, `?` one
//! deny = ["read_media_file"]
//! limits = { concurrency = 4 }        # of all tools together
//! visible_to = { scopes = ["files"], subjects = [] }
//!
//! [servers.files.extensions]          # that the gateway does not know, with patterns of their methods
//! "com.example/budget" = ["budget/*"]
//!
//! [servers.files.tools.read_text_file]
//! name = "read"                       # exact
//! description = "Reads a file of the handbook."
//! hidden_arguments = { head = 200 }
//! limits = { calls = 10, per_seconds = 60, concurrency = 2, max_result_bytes = 100000, timeout_seconds = 20 }
//! visible_to = { scopes = ["admin"] }
//! "#;
//! let config = GatewayConfig::parse(file)?;
//! # let secret = std::env::temp_dir().join("mcp-gateway-config-secret");
//! # std::fs::write(&secret, "s3cret")?;
//! # let config = GatewayConfig::parse(&file.replace("/run/secrets/files", secret.to_str().unwrap_or_default()))?;
//! let variables = Variables::of_process();
//! # let variables = variables.env("WEATHER_TOKEN", "t0ken");
//! let http = mcp::HttpClient::new()?; // for HTTP services
//! let gateway = config.gateway(&variables, |client, spec| client.connect(spec), http)?;
//! # Ok(())
//! # }
//! ```
//!
//! `${NAME}` and `${NAME:-default}` are environment variables, and `file:PATH` is a file's content, in `url`, `headers`,
//! `command`, `args`, `env`, `cwd`, `hidden_arguments` and `client_secret`. They are read together with the configuration.
//! `Debug` and errors never show them. Paths are relative to the file: those of programs with a path separator, `cwd`, documents,
//! secrets, `manifests` and pins. A program without one is looked up in `PATH`.
//!
//! A server keeps its connection if a change does not affect its connection settings. `http`, `authorization`, `admin` and
//! `name` are read at the start only. The command calls servers with the logins that `mcp login` has stored.
//!
//! # Modules
//!
//! | module | content; each module uses only modules above it |
//! |---|---|
//! | `error` | [`ConfigError`] |
//! | `text` | [`ConfigText`]: variables and secrets |
//! | `file` | the tables of a file |
//! | `service` | servers of OpenAPI documents |
//! | `build` | a [`Gateway`](crate::Gateway) of a file |

mod build;
mod error;
mod file;
mod service;
mod text;

pub use error::ConfigError;
pub use file::{
    AccessConfig, AdminConfig, AuthorizationConfig, GatewayConfig, HttpConfig, IdentityConfig,
    LimitsConfig, OpenApiConfig, PinNew, ServerConfig, StartConfig, TokenExchangeConfig,
    ToolConfig, ToolsConfig,
};
pub use text::ConfigText;

#[cfg(test)]
mod tests;

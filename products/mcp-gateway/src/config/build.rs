//! A [`Gateway`] of a configuration file.

use std::path::Path;
use std::time::Duration;

use mcp_auth::{AuthError, IdentityHeader, PrivateKey, TokenExchange};
use mcp_client::group::{ConsentError, ServerSpec, Variables};
use mcp_client::{Client, ClientBuilder, ConnectMode, Error};
use mcp_server::Caller;
use mcp_server::Server;
use mcp_toolset::PinFile;
use mcp_types::ProtocolVersion;
use serde_json::Value;

use super::error::ConfigError;
use super::file::{
    AccessConfig, GatewayConfig, HiddenValue, IdentityConfig, LimitsConfig, OpenApiConfig, PinNew,
    ServerConfig, StartConfig, TokenExchangeConfig, ToolConfig,
};
use super::text::ConfigText;
use crate::gateway::Gateway;
use crate::limits::limiter::CallLimits;
use crate::openapi::{OpenApi, OpenApiError};
use crate::settings::server::{GatewayServer, spec_id};
use crate::settings::tool::ToolOptions;

/// Longest time limit: one week.
const MAX_SECONDS: f64 = 604_800.0;

impl GatewayConfig {
    /// Creates the file's gateway. `connect` connects to a server; pass
    /// `|client, spec| client.connect(spec)`, or add a login or layers. The settings of the client that it
    /// receives have the file's protocol and time limit.
    ///
    /// `variables` are those of [`ConfigText`](super::ConfigText): `Variables::of_process()`. Files of secrets are
    /// read now, on this thread. `http` sends the requests of OpenAPI documents, and must not follow redirects: an
    /// `HttpClient`, or a service around one.
    ///
    /// # Errors
    ///
    /// Returns [`ConfigError::Invalid`] with the key of a value that cannot be used.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::HttpClient;
    /// use mcp::gateway::config::GatewayConfig;
    /// use mcp::group::Variables;
    ///
    /// # fn run() -> mcp::Result<()> {
    /// let config = GatewayConfig::read("gateway.toml")?;
    /// let http = HttpClient::new()?;
    /// let gateway = config.gateway(&Variables::of_process(), |client, spec| client.connect(spec), http)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn gateway<F, Fut, S, B>(
        &self,
        variables: &Variables,
        connect: F,
        http: S,
    ) -> Result<Gateway, ConfigError>
    where
        F: Fn(ClientBuilder, ServerSpec) -> Fut + Clone + Send + Sync + 'static,
        Fut: Future<Output = Result<Client, Error>> + Send + 'static,
        S: tower_service::Service<http::Request<bytes::Bytes>, Response = http::Response<B>>
            + Clone
            + Send
            + Sync
            + 'static,
        S::Future: Send,
        S::Error: std::fmt::Display,
        B: http_body::Body<Error: Into<Box<dyn std::error::Error + Send + Sync>>> + Send + 'static,
        B::Data: Send,
    {
        let create = move |api: OpenApi| api.server(http.clone());
        let mut gateway = Gateway::new(&self.name, env!("CARGO_PKG_VERSION"))
            .naming(self.naming)
            .tool_mode(self.tools.mode)
            .always_list(&self.tools.always_list);
        if let Some(characters) = self.max_tool_name {
            gateway = gateway.max_tool_name(characters);
        }
        if let Some(path) = &self.tools.pin {
            let invalid =
                |error: ConsentError| ConfigError::invalid("tools.pin", error.to_string());
            let pins = PinFile::open(self.path(path)).map_err(invalid)?;
            gateway = gateway.pin(match self.tools.pin_new.unwrap_or_default() {
                PinNew::Approve => pins,
                PinNew::Hold => pins.hold_new(),
            });
        } else if self.tools.pin_new.is_some() {
            let message = "it needs `pin`, the lock file";
            return Err(ConfigError::invalid("tools.pin_new", message));
        }
        if let Some(limits) = &self.tools.limits {
            gateway = gateway.search_limits(call_limits("tools.limits", limits)?);
        }
        let servers = self.servers.iter().filter(|(_, config)| !config.disabled);
        servers
            .into_iter()
            .try_fold(gateway, |gateway, (name, config)| {
                let builder = ServerBuilder {
                    key: format!("servers.{name}"),
                    file: self,
                    config,
                    variables,
                    create: &create,
                };
                Ok(gateway.server(builder.server(name, connect.clone())?))
            })
    }
}

struct ServerBuilder<'a> {
    key: String,
    file: &'a GatewayConfig,
    config: &'a ServerConfig,
    variables: &'a Variables,
    /// Creates the server of an OpenAPI document.
    create: &'a dyn Fn(OpenApi) -> Result<Server, OpenApiError>,
}

impl ServerBuilder<'_> {
    fn server<F, Fut>(&self, name: &str, connect: F) -> Result<GatewayServer, ConfigError>
    where
        F: Fn(ClientBuilder, ServerSpec) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Client, Error>> + Send + 'static,
    {
        let config = self.config;
        let mut server = self.connection(name, connect)?;
        server = server.deny_tools(&config.deny);
        server.settings.has_one_session = config.one_session;
        server.settings.forwards_client_name = config.forward_client_name;
        server.settings.shares_sessions = config.share_sessions;
        server.settings.prefix.clone_from(&config.prefix);
        if let Some(folder) = &self.file.manifests {
            server = server.store_lists(self.file.path(folder));
        }
        if config.start == StartConfig::Lazy {
            if self.file.manifests.is_none() {
                let message = "a lazy server needs `manifests`, a folder for its lists, at the start of the file";
                return Err(ConfigError::invalid(self.at("start"), message));
            }
            server = server.lazy();
        }
        server.start.idle_timeout =
            self.seconds("idle_timeout_seconds", config.idle_timeout_seconds)?;
        server.start.health_check =
            self.seconds("health_check_seconds", config.health_check_seconds)?;
        if let Some(allowed) = &config.allow {
            server = server.allow_tools(allowed);
        }
        if let Some(limits) = &config.limits {
            server = server.limits(call_limits(&self.at("limits"), limits)?);
        }
        if let Some(access) = &config.visible_to {
            server = server.visible_to(allows(access));
        }
        if let Some(exchange) = &config.token_exchange {
            server = self.token_exchange(server, exchange)?;
        }
        if let Some(identity) = &config.forward_identity {
            server = server.forward_identity(self.identity(identity)?);
        }
        for (id, methods) in &config.extensions {
            server = server.extension(id, methods);
        }
        for (own, tool) in &config.tools {
            server = server.tool(own, self.tool(own, tool)?);
        }
        Ok(server)
    }

    /// Returns the server with its connection only.
    fn connection<F, Fut>(&self, name: &str, connect: F) -> Result<GatewayServer, ConfigError>
    where
        F: Fn(ClientBuilder, ServerSpec) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Client, Error>> + Send + 'static,
    {
        let spec = self.spec()?;
        if let Some(api) = &self.config.openapi {
            let ServerSpec::Url { url, headers, .. } = &spec else {
                let message = "it needs a `url`, the base URL of the service";
                return Err(ConfigError::invalid(self.at("openapi"), message));
            };
            let identity = self.config.forward_identity.as_ref();
            let forwarded = identity.map(|identity| &*identity.header);
            let target = (&**url, &**headers, forwarded);
            let api = OpenApiConfig {
                document: self.file.path(&api.document),
                ..api.clone()
            };
            return super::service::server(name, &self.key, &api, target, self.create);
        }
        let mode = self.mode()?;
        let timeout = self.seconds("timeout_seconds", self.config.timeout_seconds)?;
        let id = format!("{} {mode:?} {timeout:?}", spec_id(&spec));
        let server = GatewayServer::new(name, move |client| {
            let client = client.mode(mode.clone());
            let client = match timeout {
                Some(timeout) => client.timeout(timeout),
                None => client,
            };
            connect(client, spec.clone())
        });
        Ok(server.connection_id(id))
    }

    fn identity(&self, config: &IdentityConfig) -> Result<IdentityHeader, ConfigError> {
        if self.config.url.is_none() {
            let message = "it needs a server with a `url`";
            return Err(ConfigError::invalid(self.at("forward_identity"), message));
        }
        let key = self.at("forward_identity.key");
        let invalid = |error: AuthError| ConfigError::invalid(&key, error.to_string());
        let signing = PrivateKey::from_pem(&self.resolve(&key, &config.key)?);
        let mut signing = signing.map_err(invalid)?;
        if let Some(id) = &config.key_id {
            signing = signing.key_id(id);
        }
        let IdentityConfig {
            header,
            issuer,
            audience,
            ..
        } = config;
        let identity = IdentityHeader::new(header, signing, issuer, audience);
        identity.map_err(|error| {
            ConfigError::invalid(self.at("forward_identity.header"), error.to_string())
        })
    }

    fn token_exchange(
        &self,
        server: GatewayServer,
        config: &TokenExchangeConfig,
    ) -> Result<GatewayServer, ConfigError> {
        let invalid = |key: &str, message: String| {
            ConfigError::invalid(self.at(&format!("token_exchange{key}")), message)
        };
        let Some(url) = &self.config.url else {
            return Err(invalid("", "it needs a server with a `url`".into()));
        };
        if self.config.openapi.is_some() {
            let message = "tools of an OpenAPI document have the `headers` of the server only";
            return Err(invalid("", message.into()));
        }
        let key = self.at("token_exchange.client_secret");
        let secret = self.resolve(&key, &config.client_secret)?;
        let exchange = TokenExchange::new(&config.issuer, &config.client_id, secret);
        let exchange = exchange.map_err(|error| invalid(".issuer", error.to_string()))?;
        let resource = match &config.resource {
            Some(resource) => resource.clone(),
            None => self.resolve(&self.at("url"), url)?,
        };
        Ok(server.token_exchange(exchange, resource, &config.scopes))
    }

    fn resolve(&self, key: &str, text: &ConfigText) -> Result<String, ConfigError> {
        text.resolve(&self.file.path(Path::new("")), key, self.variables)
    }

    fn at(&self, key: &str) -> String {
        format!("{}.{key}", self.key)
    }

    fn seconds(&self, key: &str, value: Option<f64>) -> Result<Option<Duration>, ConfigError> {
        value.map(|value| seconds(&self.at(key), value)).transpose()
    }

    fn spec(&self) -> Result<ServerSpec, ConfigError> {
        let ServerConfig {
            url,
            headers,
            command,
            args,
            env,
            cwd,
            ..
        } = self.config;
        let resolve = |key: &str, text: &ConfigText| self.resolve(&self.at(key), text);
        match (url, command) {
            (Some(url), None) => {
                if !args.is_empty() || !env.is_empty() || cwd.is_some() {
                    let message =
                        "`args`, `env` and `cwd` belong to a `command`; this server has a `url`";
                    return Err(ConfigError::invalid(&self.key, message));
                }
                let headers = headers.iter().map(|(name, value)| {
                    let value = resolve(&format!("headers.{name}"), value)?;
                    Ok((name.clone(), value))
                });
                let headers: Vec<_> = headers.collect::<Result<_, ConfigError>>()?;
                Ok(ServerSpec::http(resolve("url", url)?, headers))
            }
            (None, Some(command)) => {
                if !headers.is_empty() {
                    let message = "`headers` belong to a `url`; this server has a `command`";
                    return Err(ConfigError::invalid(&self.key, message));
                }
                let args = args.iter().map(|arg| resolve("args", arg));
                let args: Vec<_> = args.collect::<Result<_, _>>()?;
                let mut spec = ServerSpec::program(resolve("command", command)?, args);
                if let ServerSpec::Command {
                    env: variables,
                    cwd: folder,
                    ..
                } = &mut spec
                {
                    for (name, value) in env {
                        let value = resolve(&format!("env.{name}"), value)?;
                        variables.push((name.clone(), value));
                    }
                    *folder = cwd
                        .as_ref()
                        .map(|folder| resolve("cwd", folder))
                        .transpose()?;
                }
                Ok(match &self.file.folder {
                    Some(folder) => spec.relative_to(folder),
                    None => spec,
                })
            }
            _ => Err(ConfigError::invalid(
                &self.key,
                "a server needs either a `url` or a `command`",
            )),
        }
    }

    fn mode(&self) -> Result<ConnectMode, ConfigError> {
        match self.config.protocol.as_deref() {
            None | Some("auto") => Ok(ConnectMode::Auto),
            Some("legacy") => Ok(ConnectMode::Legacy),
            Some(version) => match version.parse::<ProtocolVersion>() {
                Ok(version) => Ok(ConnectMode::Pin(version)),
                Err(error) => Err(ConfigError::invalid(
                    self.at("protocol"),
                    format!("{error}; or use `auto` or `legacy`"),
                )),
            },
        }
    }

    fn tool(&self, own: &str, config: &ToolConfig) -> Result<ToolOptions, ConfigError> {
        let key = self.at(&format!("tools.{own}"));
        let mut tool = ToolOptions::new();
        if let Some(name) = &config.name {
            tool = tool.rename(name);
        }
        if let Some(description) = &config.description {
            tool = tool.description(description);
        }
        for (name, value) in &config.hidden_arguments {
            let value = match value {
                HiddenValue::Text(text) => {
                    let key = format!("{key}.hidden_arguments.{name}");
                    Value::String(self.resolve(&key, text)?)
                }
                HiddenValue::Other(value) => value.clone(),
            };
            tool = tool.hidden_argument(name, value);
        }
        if let Some(limits) = &config.limits {
            tool = tool.limits(call_limits(&format!("{key}.limits"), limits)?);
        }
        if let Some(access) = &config.visible_to {
            tool = tool.visible_to(allows(access));
        }
        Ok(tool)
    }
}

fn call_limits(key: &str, config: &LimitsConfig) -> Result<CallLimits, ConfigError> {
    let mut limits = CallLimits::new();
    match (config.calls, config.per_seconds) {
        (Some(0), _) => {
            let message = "it must be at least 1; use `deny` to leave a tool out";
            return Err(ConfigError::invalid(format!("{key}.calls"), message));
        }
        (Some(calls), period) => {
            let period = seconds(&format!("{key}.per_seconds"), period.unwrap_or(60.0))?;
            limits = limits.rate(calls, period);
        }
        (None, Some(_)) => {
            let message = "it needs `calls`, the number of calls in the period";
            return Err(ConfigError::invalid(format!("{key}.per_seconds"), message));
        }
        (None, None) => {}
    }
    if let Some(calls) = config.concurrency {
        if calls == 0 {
            let message = "it must be at least 1";
            return Err(ConfigError::invalid(format!("{key}.concurrency"), message));
        }
        limits = limits.concurrency(calls);
    }
    if let Some(bytes) = config.max_result_bytes {
        limits = limits.max_result_bytes(bytes);
    }
    if let Some(time) = config.timeout_seconds {
        limits = limits.timeout(seconds(&format!("{key}.timeout_seconds"), time)?);
    }
    Ok(limits)
}

fn seconds(key: &str, value: f64) -> Result<Duration, ConfigError> {
    if value > 0.0 && value <= MAX_SECONDS {
        Ok(Duration::from_secs_f64(value))
    } else {
        let message = "it must be more than 0 seconds and at most a week";
        Err(ConfigError::invalid(key, message))
    }
}

fn allows(access: &AccessConfig) -> impl Fn(&Caller<'_>) -> bool + Send + Sync + use<> {
    let AccessConfig {
        scopes, subjects, ..
    } = access.clone();
    move |caller| {
        let Some(principal) = caller.principal() else {
            return false;
        };
        let is_named = subjects.is_empty() || subjects.contains(&principal.subject);
        is_named && scopes.iter().all(|scope| caller.has_scope(scope))
    }
}

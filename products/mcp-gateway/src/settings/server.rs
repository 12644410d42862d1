//! Settings of a server behind the gateway: [`GatewayServer`].

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash as _, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mcp_auth::IdentityHeader;
use mcp_client::group::ServerSpec;
use mcp_client::{Client, ClientBuilder, Error};
use mcp_core::{BoxFuture, ServerIdentity, catch_panic_sync};
use mcp_server::Caller;

use super::claims::ExtensionClaims;
use super::credentials::CallerTokens;
use super::tool::{ToolOptions, Visible};
use crate::limits::limiter::{CallLimits, Limiter};
use crate::patterns::ToolPatterns;

/// A server behind a [`Gateway`](crate::Gateway), with its settings.
///
/// # Examples
///
/// ```no_run
/// use std::time::Duration;
/// use mcp::gateway::{CallLimits, Gateway, GatewayServer, ToolOptions};
/// use serde_json::json;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let files = GatewayServer::new("files", |client| client.connect("http://127.0.0.1:8001/mcp"))
///     .prefix("fs")
///     .allow_tools(["read_*", "list"])
///     .limits(CallLimits::new().concurrency(4))
///     .tool(
///         "read_file",
///         ToolOptions::new()
///             .rename("read")
///             .description("Reads a file of the handbook.")
///             .hidden_argument("root", json!("/handbook")),
///     );
/// let gateway = Gateway::new("tools", "1.0.0").server(files).connect().await?;
/// # Ok(())
/// # }
/// ```
#[must_use = "does nothing until it is added to a gateway"]
pub struct GatewayServer {
    pub(crate) name: Arc<str>,
    pub(crate) connect: Connect,
    pub(crate) connection_id: Option<String>,
    pub(crate) start: StartSettings,
    pub(crate) settings: ServerSettings,
}

/// A function that connects to the server.
pub(crate) type Connect =
    Arc<dyn Fn(ClientBuilder) -> BoxFuture<'static, Result<Client, Error>> + Send + Sync>;

/// The start and the end of a server.
#[derive(Debug, Clone, Default)]
pub(crate) struct StartSettings {
    /// The file with the lists.
    pub(crate) manifest: Option<PathBuf>,
    /// The server starts at its first call.
    pub(crate) is_lazy: bool,
    pub(crate) idle_timeout: Option<Duration>,
    pub(crate) health_check: Option<Duration>,
}

/// Returns true for the tools that clients may know.
type ToolFilter = dyn Fn(&str) -> bool + Send + Sync;

/// The settings of a server that calls of it need.
#[derive(Clone, Default)]
pub(crate) struct ServerSettings {
    /// All calls of a caller use one session.
    pub(crate) has_one_session: bool,
    /// Callers are not separated.
    pub(crate) shares_sessions: bool,
    pub(crate) prefix: Option<String>,
    pub(crate) tools: BTreeMap<String, Arc<ToolOptions>>,
    pub(crate) limiter: Arc<Limiter>,
    /// Extensions that only the server and its clients know.
    pub(crate) extensions: Arc<ExtensionClaims>,
    /// Clients know the tools that all of them accept.
    shown: Vec<Arc<ToolFilter>>,
    /// The patterns of `allow_tools`, of which each matches itself.
    allowed: Vec<String>,
    visible_to: Vec<Visible>,
    /// Calls have the name of the client that makes them.
    pub(crate) forwards_client_name: bool,
    /// The call tokens. `None`: calls have the gateway's credentials.
    pub(crate) caller_tokens: Option<CallerTokens>,
    /// The header of calls that names their caller.
    pub(crate) identity: Option<IdentityHeader>,
}

impl GatewayServer {
    /// A server that `connect` connects to, with the gateway's settings. Settings may be added to them,
    /// such as headers, layers and timeouts. The function is called each time the server starts.
    pub fn new<F, Fut>(name: &str, connect: F) -> Self
    where
        F: Fn(ClientBuilder) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Client, Error>> + Send + 'static,
    {
        Self {
            name: name.into(),
            connect: Arc::new(move |client| Box::pin(connect(client))),
            connection_id: None,
            start: StartSettings::default(),
            settings: ServerSettings::default(),
        }
    }

    /// A server of a configuration file, which `connect` connects to. Its
    /// [connection id](Self::connection_id) is a hash of the entry.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::gateway::{Gateway, GatewayServer};
    /// use mcp::group::GroupConfig;
    ///
    /// # fn run() -> mcp::Result<()> {
    /// let mut gateway = Gateway::new("tools", "1.0.0");
    /// for entry in GroupConfig::read("mcp.json")?.servers {
    ///     if let Ok(spec) = entry.spec {
    ///         let server = GatewayServer::from_spec(&entry.name, spec, |client, spec| client.connect(spec));
    ///         gateway = gateway.server(server);
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_spec<F, Fut>(name: &str, spec: ServerSpec, connect: F) -> Self
    where
        F: Fn(ClientBuilder, ServerSpec) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Client, Error>> + Send + 'static,
    {
        let id = spec_id(&spec);
        Self::new(name, move |client| connect(client, spec.clone())).connection_id(id)
    }

    /// Sets a value that changes with the function that connects, such as a hash of its settings. With the same
    /// value, [`GatewayControl::reload`](crate::GatewayControl::reload) keeps the connection. Default: each
    /// reload connects again.
    pub fn connection_id(mut self, id: impl Into<String>) -> Self {
        self.connection_id = Some(id.into());
        self
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sets the prefix of tool and prompt names, which are then `prefix__tool`. An empty prefix leaves the server's names,
    /// unless another server has the name already. Default: the
    /// [naming](crate::Gateway::naming) of the gateway.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.settings.prefix = Some(prefix.into());
        self
    }

    /// Lets all calls of a caller share one session or process. Calls whose client can be asked then run one after the
    /// other. For servers that keep a state in their process, such as a browser page. Each caller with an identity has its
    /// own session or process, unless callers [share sessions](Self::share_sessions). A server that asks for roots is
    /// notified when a client with other ones calls, and may keep the former ones. Has no effect on a server of 2026-07-28, which has no sessions.
    pub fn one_session(mut self) -> Self {
        self.settings.has_one_session = true;
        self
    }

    /// Lets all callers share a legacy server's sessions. For servers that keep nothing in a session or process: what
    /// one caller leaves there reaches the others, and so do the server's notifications. Default: each caller has its own
    /// sessions. A server of 2026-07-28 has no sessions.
    pub fn share_sessions(mut self) -> Self {
        self.settings.shares_sessions = true;
        self
    }

    /// Calls the server with the name and version that the calling client claims. Default:
    /// those of the gateway. A legacy server has sessions for each name and version.
    pub fn forward_client_name(mut self) -> Self {
        self.settings.forwards_client_name = true;
        self
    }

    /// Starts the server at its first call. Until then its lists are those of its [file](Self::store_lists). Without the file,
    /// the server starts with the gateway, so that it is listed.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use mcp::gateway::GatewayServer;
    ///
    /// let files = GatewayServer::new("files", |client| client.connect("http://127.0.0.1:8001/mcp"))
    ///     .store_lists("/var/cache/gateway")
    ///     .lazy()
    ///     .idle_timeout(Duration::from_secs(300));
    /// ```
    pub fn lazy(mut self) -> Self {
        self.start.is_lazy = true;
        self
    }

    /// Keeps the server's lists in a file of this folder. When the gateway opens again, the lists of the file are served
    /// until the server has started, so that a client's first list has the tools of slow servers, too. Clients are
    /// notified when the server lists something else. Pins hold for both. Default: the lists are not stored.
    ///
    /// The lists are those that the server shows to the gateway itself, with the credentials of the function given to
    /// [`new`](Self::new). The file is named by a hash of the name and the [connection id](Self::connection_id): with
    /// other settings the server has another file. Only the user can read it, and it has at most 64 MiB. An unreadable
    /// file is ignored and logged. A reload without the server removes the file. Its format is that of
    /// [`Snapshot`](mcp_client::catalog::Snapshot). A second call does nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::gateway::GatewayServer;
    ///
    /// let files = GatewayServer::new("files", |client| client.connect("http://127.0.0.1:8001/mcp"))
    ///     .store_lists("/var/cache/gateway");
    /// assert!(files.lists_file().is_some());
    /// ```
    pub fn store_lists(mut self, folder: impl AsRef<Path>) -> Self {
        if self.start.manifest.is_none() {
            let id = self.connection_id.as_deref().unwrap_or_default();
            let id = ServerIdentity::from_parts("manifest", [&*self.name, id]);
            self.start.manifest = Some(folder.as_ref().join(format!("{id}.json")));
        }
        self
    }

    /// Returns the file with the server's lists.
    pub fn lists_file(&self) -> Option<&Path> {
        self.start.manifest.as_deref()
    }

    /// Stops the server when it had no call for this time, and starts it again at its next call. Its lists stay. A
    /// call whose question waits for its answer counts as a call that runs, and so do an open task, and a client
    /// that is subscribed to a resource of the server. Default: a server runs until the gateway ends.
    pub fn idle_timeout(mut self, time: Duration) -> Self {
        self.start.idle_timeout = Some(time);
        self
    }

    /// Checks the server while it runs, once in each period; at least a second. It has 5 seconds for an answer. A
    /// server that fails two checks in a row is closed: its calls fail, and it is started again, with growing pauses.
    /// Default: no checks.
    ///
    /// Checks are for the connection that calls share. A program that answers nothing while it works on a call fails
    /// them as well.
    pub fn health_check(mut self, period: Duration) -> Self {
        self.start.health_check = Some(period);
        self
    }

    /// Leaves out all tools but those that match one of the patterns, by the names that the server gives them. After
    /// several calls, a tool must match a pattern of each.
    pub fn allow_tools<S: AsRef<str>>(mut self, patterns: impl IntoIterator<Item = S>) -> Self {
        let patterns = patterns.into_iter();
        let texts: Vec<String> = patterns.map(|text| text.as_ref().to_owned()).collect();
        let patterns = ToolPatterns::new(&texts);
        self.settings.allowed.extend(texts);
        self.show(move |tool| patterns.matches(tool))
    }

    /// Leaves out tools that match one of the patterns, also if they are allowed. Adds to earlier patterns.
    pub fn deny_tools<S: AsRef<str>>(self, patterns: impl IntoIterator<Item = S>) -> Self {
        let patterns = ToolPatterns::new(patterns);
        self.show(move |tool| !patterns.matches(tool))
    }

    /// Leaves out tools for which `is_hidden` returns true, by the names that the server gives them. Functions of
    /// earlier calls hold as well.
    pub fn hide_tools(self, is_hidden: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.show(move |tool| !is_hidden(tool))
    }

    fn show(mut self, is_shown: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.settings.shown.push(Arc::new(is_shown));
        self
    }

    /// Sets a tool's options, by the name that the server gives it.
    pub fn tool(mut self, name: impl Into<String>, options: ToolOptions) -> Self {
        self.settings.tools.insert(name.into(), Arc::new(options));
        self
    }

    /// Sets limits that the calls to all tools of the server share.
    pub fn limits(mut self, limits: CallLimits) -> Self {
        self.settings.limiter = Arc::new(Limiter::new(&limits));
        self
    }

    /// Calls the server in the name of the gateway's callers: `exchange` gives a token of the server for each caller's
    /// token. Callers without a token are refused, so the endpoint of the gateway needs
    /// [`ResourceServer::keep_access_token`](mcp_auth::ResourceServer::keep_access_token). The caller's token
    /// itself never reaches the server.
    ///
    /// `resource` is the URL that tokens of the server name as their audience. `scopes` may be empty.
    ///
    /// Lists and subscriptions have no caller: they use the credentials that the function given to [`new`](Self::new)
    /// sets.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::auth::{OAuth, TokenExchange};
    /// use mcp::gateway::GatewayServer;
    ///
    /// # fn run() -> Result<(), mcp::auth::AuthError> {
    /// const CRM: &str = "https://crm.example.com/mcp";
    /// let exchange = TokenExchange::new("https://login.example.com", "gateway", "s3cret")?;
    /// let crm = GatewayServer::new("crm", |client| {
    ///     client.oauth(OAuth::client_credentials("gateway", "s3cret")).connect(CRM)
    /// });
    /// let crm = crm.token_exchange(exchange, CRM, ["contacts:read"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn token_exchange<S: Into<String>>(
        mut self,
        exchange: mcp_auth::TokenExchange,
        resource: impl Into<String>,
        scopes: impl IntoIterator<Item = S>,
    ) -> Self {
        let scopes = scopes.into_iter().map(Into::into).collect();
        let tokens = CallerTokens::new(exchange, resource.into(), scopes);
        self.settings.caller_tokens = Some(tokens);
        self
    }

    /// Names the caller to the server: each call of a verified [`Principal`](mcp_core::Principal) has a header with a
    /// short-lived signed token. Calls of anonymous clients, lists and subscriptions do not have it. For servers in the own
    /// network; others need a [`token_exchange`](Self::token_exchange).
    ///
    /// Redirects are not followed, so the header reaches the server's URL only. A server on a pipe does not receive it. The
    /// server of an [`OpenApi`](crate::openapi::OpenApi) document passes it on if
    /// [`forward_header`](crate::openapi::OpenApi::forward_header) names it.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::auth::{IdentityHeader, PrivateKey};
    /// use mcp::gateway::GatewayServer;
    ///
    /// # fn run() -> Result<(), Box<dyn std::error::Error>> {
    /// let key = PrivateKey::from_pem(&std::fs::read_to_string("gateway.pem")?)?;
    /// let identity = IdentityHeader::new("X-Caller", key, "https://gateway.internal", "crm")?;
    /// let crm = GatewayServer::new("crm", |client| client.connect("http://crm.internal/mcp"))
    ///     .forward_identity(identity);
    /// # Ok(())
    /// # }
    /// ```
    pub fn forward_identity(mut self, header: IdentityHeader) -> Self {
        self.settings.identity = Some(header);
        self
    }

    /// Passes on the messages of an extension that the gateway does not know: the server's, and those of clients whose
    /// method matches one of the patterns (`*` stands for any characters, `?` for one). `budget/*` also covers notifications whose method begins with `notifications/budget/`.
    ///
    /// Parameters, results and errors pass as they are. The gateway publishes the extension with the settings that the
    /// server publishes when the gateway opens, and the server receives the settings of the client: with each call
    /// in 2026-07-28, and in the session of the call before. Notifications that a server sends to all its
    /// clients reach all clients of the gateway that declare the extension; those in a session of an older revision
    /// reach its caller's clients.
    ///
    /// [`Gateway::connect`](crate::Gateway::connect) fails when two servers claim the same extension or method. It also
    /// fails when a pattern matches a method that the protocol or a known extension defines. Extensions stay as they
    /// were when the gateway opened; a reload changes only the connections of their servers.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::gateway::GatewayServer;
    ///
    /// let shop = GatewayServer::new("shop", |client| client.connect("http://127.0.0.1:8001/mcp"))
    ///     .extension("com.example/budget", ["budget/*"]);
    /// ```
    pub fn extension<S: Into<String>>(
        mut self,
        id: impl Into<String>,
        methods: impl IntoIterator<Item = S>,
    ) -> Self {
        let methods = methods.into_iter().map(Into::into);
        Arc::make_mut(&mut self.settings.extensions).add(id.into(), methods.collect());
        self
    }

    /// Hides the server from callers that `filter` does not accept: for them, its tools, prompts, resources
    /// and templates are unknown. Filters of earlier calls hold as well.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::gateway::GatewayServer;
    ///
    /// let billing = GatewayServer::new("billing", |client| client.connect("http://127.0.0.1:8002/mcp"))
    ///     .visible_to(|caller| caller.has_scope("billing"));
    /// ```
    pub fn visible_to(
        mut self,
        filter: impl Fn(&Caller<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.settings.visible_to.push(Arc::new(filter));
        self
    }
}

impl ServerSettings {
    /// Returns whether clients of the gateway may know a tool. A function that panics hides it.
    pub(crate) fn allows(&self, tool: &str) -> bool {
        let mut shown = self.shown.iter();
        shown.all(|is_shown| catch_panic_sync(|| is_shown(tool)).unwrap_or(false))
    }

    /// Returns whether a caller may know a tool of the server, as far as its settings tell before it is listed.
    pub(crate) fn may_show_tools(&self, caller: &Caller<'_>) -> bool {
        // Patterns that hide all tools match this name too.
        let any = std::iter::once("*");
        let allowed = self.allowed.iter().map(String::as_str);
        let mut names = any
            .chain(allowed)
            .chain(self.tools.keys().map(String::as_str));
        names.any(|name| self.allows(name) && self.is_visible(Some(&self.tool(name)), caller))
    }

    /// Returns whether a connection with other settings can stay.
    pub(crate) fn has_same_connection(&self, other: &Self) -> bool {
        self.has_one_session == other.has_one_session
            && self.shares_sessions == other.shares_sessions
            && self.extensions == other.extensions
    }

    /// Returns a tool's options.
    pub(crate) fn tool(&self, name: &str) -> Arc<ToolOptions> {
        self.tools.get(name).cloned().unwrap_or_default()
    }

    /// Returns the exact names of tools, by the names that the server gives them.
    pub(crate) fn renamed(&self) -> impl Iterator<Item = (&str, &str)> {
        let tools = self.tools.iter();
        tools.filter_map(|(own, tool)| Some((own.as_str(), tool.name.as_deref()?)))
    }

    /// Returns a tool's exact name.
    pub(crate) fn exact_name(&self, own: &str) -> Option<&str> {
        self.tools.get(own)?.name.as_deref()
    }

    /// Returns the filter of callers for a tool, or for the server's other items. `None`: all callers may know them.
    pub(crate) fn visible(
        &self,
        tool: Option<&ToolOptions>,
    ) -> Option<impl Fn(&Caller<'_>) -> bool + Send + Sync + use<>> {
        let inner = tool.map_or(&[][..], |tool| &tool.visible_to);
        let filters = [&*self.visible_to, inner].concat();
        let has_filter = !filters.is_empty();
        has_filter.then_some(move |caller: &Caller<'_>| {
            filters.iter().all(|is_visible| is_visible(caller))
        })
    }

    /// Returns whether a caller may know a tool, or the server's other items. A function that panics hides them.
    pub(crate) fn is_visible(&self, tool: Option<&ToolOptions>, caller: &Caller<'_>) -> bool {
        let filter = self.visible(tool);
        filter.is_none_or(|filter| catch_panic_sync(|| filter(caller)).unwrap_or(false))
    }
}

/// Returns a hash of the entry settings.
pub(crate) fn spec_id(spec: &ServerSpec) -> String {
    /// The parts that are hashed.
    #[derive(Default)]
    struct Parts(Vec<u8>);

    impl Hasher for Parts {
        fn write(&mut self, bytes: &[u8]) {
            self.0.extend_from_slice(bytes);
        }

        fn finish(&self) -> u64 {
            0
        }
    }

    let mut parts = Parts::default();
    spec.hash(&mut parts);
    ServerIdentity::from_parts("gateway", [parts.0]).to_string()
}

impl fmt::Debug for GatewayServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GatewayServer")
            .field("name", &self.name)
            .field("prefix", &self.settings.prefix)
            .field("tools", &self.settings.tools)
            .finish_non_exhaustive()
    }
}

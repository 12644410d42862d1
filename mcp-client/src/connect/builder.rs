//! [`ClientBuilder`]: a client's settings.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning>

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};
#[cfg(feature = "auth")]
use mcp_auth::{Authorizer, OAuth};
use mcp_core::ClientProfile;
use mcp_core::extension::Registration;
use mcp_core::schema::Validator;
use mcp_core::tower::{Layers, Middleware};
use mcp_types::ext::tasks::TasksSettings;
use mcp_types::meta::keys;
use mcp_types::{
    ClientCapabilities, CreateMessageResult, ElicitResult, Implementation, LoggingLevel, Meta, Root,
};

#[cfg(feature = "auth")]
use super::login::Login;
use crate::extension::{ClientSetup, IntoClientExtension, NotificationHandlers};
use crate::inputs::{ElicitRequest, Inputs, IntoInput, Mrtr, SampleRequest, UrlRequest, boxed};
use crate::negotiation::ConnectMode;
use crate::options::{Timeouts, parse_header};
use crate::results::Cache;

/// Settings of a [`Client`](crate::Client), created by [`Client::builder`](crate::Client::builder).
///
/// # Examples
///
/// ```no_run
/// use std::time::Duration;
/// use mcp::prelude::*;
///
/// # async fn example() -> mcp::Result<()> {
/// let client = Client::builder()
///     .identity("my-agent", "1.0.0")
///     .mode(ConnectMode::Pin(ProtocolVersion::LATEST))
///     .timeout(Duration::from_secs(20))
///     .connect("http://127.0.0.1:8000/mcp")
///     .await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "connects with `connect`"]
pub struct ClientBuilder {
    pub(crate) profile: ClientProfile,
    pub(crate) mode: ConnectMode,
    pub(crate) timeouts: Timeouts,
    pub(crate) inputs: Inputs,
    pub(crate) max_input_rounds: usize,
    /// `None` for a cache of each client alone.
    pub(crate) cache: Option<Cache>,
    pub(crate) principal: Option<Box<str>>,
    pub(crate) log_level: Option<LoggingLevel>,
    pub(crate) meta: Meta,
    pub(crate) validator: Option<Arc<dyn Validator>>,
    pub(crate) probe_timeout: Duration,
    /// The server's name in logs.
    pub(crate) server_name: Option<Arc<str>>,
    pub(crate) silence_file: Option<PathBuf>,
    pub(crate) headers: HeaderMap,
    pub(crate) authorization: Option<HeaderValue>,
    /// The name of the first invalid header.
    pub(crate) invalid_header: Option<Box<str>>,
    #[cfg(feature = "auth")]
    pub(crate) login: Option<Login>,
    pub(crate) extensions: Vec<Registration<ClientCapabilities>>,
    /// The layers around calls.
    pub(crate) layers: Layers,
    pub(crate) inbound_layers: Layers,
    pub(crate) notification_handlers: NotificationHandlers,
}

impl Default for ClientBuilder {
    fn default() -> Self {
        let info = Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        Self {
            profile: ClientProfile::new(info),
            mode: ConnectMode::default(),
            timeouts: Timeouts::default(),
            inputs: Inputs::default(),
            max_input_rounds: Mrtr::DEFAULT_ROUNDS,
            cache: None,
            principal: None,
            log_level: None,
            meta: Meta::default(),
            validator: None,
            probe_timeout: Duration::from_secs(5),
            server_name: None,
            silence_file: None,
            headers: HeaderMap::new(),
            authorization: None,
            invalid_header: None,
            #[cfg(feature = "auth")]
            login: None,
            extensions: Vec::new(),
            layers: Layers::default(),
            inbound_layers: Layers::default(),
            notification_handlers: NotificationHandlers::default(),
        }
    }
}

impl ClientBuilder {
    /// Sets the name and version that the server receives. Default: those of this crate.
    pub fn identity(self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.implementation(Implementation::new(name, version))
    }

    /// Sets the whole identity: name, version, title, icons and more.
    pub fn implementation(mut self, info: Implementation) -> Self {
        self.profile.info = info;
        self
    }

    /// Declares capabilities in addition to those of the handlers: for example that the language
    /// model can call tools, or that the program answers input requests
    /// [itself](crate::PreparedCall::step). The program must support every declared capability.
    pub fn capabilities(mut self, capabilities: ClientCapabilities) -> Self {
        self.profile.capabilities = capabilities;
        self
    }

    /// Accepts tasks as results of tool calls: declares the extension `io.modelcontextprotocol/tasks`.
    /// Off by default.
    ///
    /// [`Client::call`](crate::Client::call) then follows a task to its end by itself: it polls at the server's interval,
    /// answers input requests by this client's handlers, and cancels the task when the call is
    /// dropped. [`PreparedCall::start`](crate::PreparedCall::start) returns as soon as the task exists.
    /// Servers of revisions before 2026-07-28 return no such tasks.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::prelude::*;
    ///
    /// # async fn example() -> mcp::Result<()> {
    /// let client = Client::builder().tasks().connect("http://127.0.0.1:8000/mcp").await?;
    /// let picture = client.call("render", ()).await?;
    /// # Ok(())
    /// # }
    /// ```
    // spec: TASK-01
    pub fn tasks(mut self) -> Self {
        let capabilities = std::mem::take(&mut self.profile.capabilities);
        self.profile.capabilities =
            capabilities.with_extension(keys::TASKS_EXTENSION, &TasksSettings::default());
        self
    }

    /// Adds a protocol extension: publishes its settings, and adds its handlers and layers.
    ///
    /// The layers of the extension are added here, as if by [`layer`](Self::layer) and
    /// [`inbound_layer`](Self::inbound_layer). [`connect`](Self::connect) fails when two extensions have the
    /// same identifier, when a method has two handlers, or when a requirement of an extension is not
    /// met.
    ///
    /// # Examples
    ///
    /// See [`ClientExtension`](crate::ClientExtension). An extension whose messages the program passes on:
    ///
    /// ```
    /// use mcp::Client;
    ///
    /// let builder = Client::builder().extension(("com.example/tracing", ()));
    /// ```
    // spec: EXT-01
    pub fn extension(mut self, extension: impl IntoClientExtension) -> Self {
        let parts = ClientSetup::collect(extension);
        if let Some(layer) = parts.layers.into_layer() {
            self.layers.add(layer);
        }
        if let Some(layer) = parts.inbound_layers.into_layer() {
            self.inbound_layers.add(layer);
        }
        for (method, handler) in parts.requests {
            self.inputs.custom.insert(method, handler);
        }
        self.notification_handlers.0.extend(parts.notifications.0);
        self.extensions.push(parts.registration);
        self
    }

    /// Adds a layer around the client's calls: a tower layer, or
    /// [`from_fn`](mcp_core::tower::from_fn), of the same shape as a server layer. The layer that is
    /// added last is the outermost.
    ///
    /// A layer sees every request of a call, before it is encoded and after its reply was decoded: also
    /// repeated ones, and those with input. It may change the call, its `_meta`
    /// ([`Exchange::update_meta`](mcp_core::Exchange::update_meta)) and the reply, reply by itself, and
    /// change or suppress the notifications that arrive for the call
    /// ([`NotificationSender::map`](mcp_core::NotificationSender::map)), one by one in their order. It also sees the
    /// [notifications](crate::ExtensionClient::notify) of extensions. A cancelled call drops the
    /// layer's future. The connection's failures are internal faults to layers.
    ///
    /// Layers do not see discovery, subscriptions and the requests that keep a session, and results from
    /// the [cache](Self::cache).
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::Client;
    /// use mcp::core::tower::{Next, from_fn};
    /// use mcp::core::{Exchange, Reply};
    ///
    /// async fn log(exchange: Exchange, next: Next) -> Reply {
    ///     let method = exchange.call.method_name().to_owned();
    ///     let reply = next.run(exchange).await;
    ///     println!("{method}: {}", matches!(reply, Reply::Fault(_)));
    ///     reply
    /// }
    ///
    /// let builder = Client::builder().layer(from_fn(log));
    /// ```
    pub fn layer(mut self, layer: impl Middleware) -> Self {
        self.layers.add(layer);
        self
    }

    /// Adds a layer around the server's messages. The layer that is added last is the outermost.
    ///
    /// It sees the server's requests, in sessions as well as in results that require input, as
    /// [`Call::Other`](mcp_core::Call::Other) with the method and the parameters. Their result is
    /// [`ResultBody::Other`](mcp_core::ResultBody::Other). It also sees, as [`Call::Notification`](mcp_core::Call::Notification), the
    /// notifications that belong to no call, and those that an [extension](Self::extension) handles. A
    /// layer that does not pass on a notification suppresses it. Notifications pass one after the other,
    /// in their order; up to 256 wait.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::Client;
    /// use mcp::core::tower::{Next, from_fn};
    /// use mcp::core::{Exchange, Fault, Reply};
    ///
    /// /// Answers no request for sampling.
    /// async fn no_sampling(exchange: Exchange, next: Next) -> Result<Reply, Fault> {
    ///     match exchange.call.method_name() {
    ///         "sampling/createMessage" => Err(Fault::Refused("not now".into())),
    ///         _ => Ok(next.run(exchange).await),
    ///     }
    /// }
    ///
    /// let builder = Client::builder().inbound_layer(from_fn(no_sampling));
    /// ```
    pub fn inbound_layer(mut self, layer: impl Middleware) -> Self {
        self.inbound_layers.add(layer);
        self
    }

    /// Sets the handler for form elicitation, and declares the capability. Several forms may be open
    /// at once.
    ///
    /// The handler runs on the task of the call that requires the input, or on a task of the
    /// session. Its time does not count towards the call's timeouts. The client fills in the
    /// form's defaults and validates the answer. An error or a handler panic ends the
    /// call.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::prelude::*;
    ///
    /// let builder = Client::builder().on_elicit(|form: ElicitRequest| async move {
    ///     println!("{} asks: {}", form.asker.server, form.message());
    ///     ElicitResult::decline()
    /// });
    /// ```
    pub fn on_elicit<F, Fut>(mut self, handler: F) -> Self
    where
        F: Fn(ElicitRequest) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoInput<ElicitResult>> + Send + 'static,
    {
        self.inputs.form = Some(boxed(handler));
        self
    }

    /// Sets the handler for URL elicitation, and declares the capability. [`UrlRequest`] lists the
    /// handler's duties.
    pub fn on_elicit_url<F, Fut>(mut self, handler: F) -> Self
    where
        F: Fn(UrlRequest) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoInput<ElicitResult>> + Send + 'static,
    {
        self.inputs.url = Some(boxed(handler));
        self
    }

    /// Sets the handler for sampling, and declares the capability. The handler should show the
    /// request to the user, and may return [`Rejected`](crate::Rejected).
    ///
    /// Sampling with tools is declared with [`capabilities`](Self::capabilities).
    // spec: SAMP-13
    pub fn on_sample<F, Fut>(mut self, handler: F) -> Self
    where
        F: Fn(SampleRequest) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoInput<CreateMessageResult>> + Send + 'static,
    {
        self.inputs.sample = Some(boxed(handler));
        self
    }

    /// Sets the roots, each a `file://` URI or a [`Root`], and declares the capability.
    pub fn roots(mut self, roots: impl IntoIterator<Item = impl Into<Root>>) -> Self {
        let roots: Vec<Root> = roots.into_iter().map(Into::into).collect();
        self.inputs.roots = Some(Arc::new(roots.into()));
        self
    }

    /// Sets the largest number of input rounds per call. Default: 10.
    // spec: MRTR-18
    pub fn max_input_rounds(mut self, rounds: usize) -> Self {
        self.max_input_rounds = rounds;
        self
    }

    /// Sets the cache for results that the server declares cacheable. Default: a new cache of 8 MiB
    /// for each client, also if a clone of this builder makes it. `Cache::new(0)` disables caching.
    pub fn cache(mut self, cache: Cache) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Sets this client's principal, for a [cache](Self::cache) that several clients share:
    /// clients with the same principal share private results. Default: a unique principal, so that
    /// private results are not shared.
    pub fn principal(mut self, principal: impl Into<Box<str>>) -> Self {
        self.principal = Some(format!("p:{}", principal.into()).into());
        self
    }

    /// Adds a field to every request's `_meta`, for example a conversation's id. A field of
    /// a [call](crate::PreparedCall::meta) or of a layer with the same key wins. The fields that the client writes
    /// itself, such as the revision or the token for progress, cannot be set: [`connect`](Self::connect) fails.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::Client;
    ///
    /// let builder = Client::builder().meta("com.example/conversation", "c-17");
    /// ```
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
        self.meta = self.meta.with(key, value);
        self
    }

    /// Sets the minimum level of log messages; see [`Client::notifications`](crate::Client::notifications). Default:
    /// no log messages are requested.
    // spec: META-11
    pub fn log_level(mut self, level: LoggingLevel) -> Self {
        self.log_level = Some(level);
        self
    }

    /// Validates structured results against the output schemas of listed tools. A result that
    /// violates its schema is an error. Default: no validation.
    // spec: TOOL-17
    pub fn validate_with(mut self, validator: impl Validator) -> Self {
        self.validator = Some(Arc::new(validator));
        self
    }

    /// Adds an HTTP header to every request, for example a token or a tenant. Other transports
    /// ignore it. It replaces a header of the channel with the same name. A header of a
    /// [call](crate::PreparedCall::header) replaces it. Headers that the transport writes
    /// (`Accept`, `Content-Type`, `Host`, `Mcp-Session-Id`, …) are ignored with a warning in the log. An invalid header makes
    /// [`connect`](Self::connect) fail.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::Client;
    ///
    /// let builder = Client::builder().header("x-tenant", "acme").bearer_token("…");
    /// ```
    pub fn header(
        mut self,
        name: impl TryInto<HeaderName> + AsRef<str>,
        value: impl TryInto<HeaderValue>,
    ) -> Self {
        match parse_header(name, value) {
            Ok((name, value)) => drop(self.headers.insert(name, value)),
            Err(name) => drop(self.invalid_header.get_or_insert(name)),
        }
        self
    }

    /// Adds the header `Authorization: Bearer …` to every request. For tokens that expire, use
    /// `HttpChannel::headers_from`.
    pub fn bearer_token(self, token: impl AsRef<str>) -> Self {
        self.header(AUTHORIZATION, format!("Bearer {}", token.as_ref()))
    }

    /// Sets the header `Authorization` of every request. It wins over [`header`](Self::header),
    /// [`bearer_token`](Self::bearer_token) and a login, also if they are set later: for a program that
    /// connects in the name of its caller with settings that others have written.
    pub fn authorization(mut self, mut credentials: HeaderValue) -> Self {
        credentials.set_sensitive(true);
        self.authorization = Some(credentials);
        self
    }

    /// Sets authorization: the client logs in when the server demands it, adds the token to its
    /// requests, and renews it. [`connect`](Self::connect) waits for the user to log in if that is
    /// necessary. Default: no authorization.
    ///
    /// Replaces an [`authorizer`](Self::authorizer). A token of [`authorization`](Self::authorization)
    /// or of a header wins over the login. The target must be a URL or an `HttpChannel`; with other
    /// targets, connecting fails.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use std::time::Duration;
    ///
    /// use mcp::auth::{FileStore, OAuth};
    /// use mcp::prelude::*;
    ///
    /// # async fn run() -> mcp::Result<()> {
    /// let client = Client::builder()
    ///     .oauth(OAuth::interactive("My Agent").store(FileStore::new("tokens")))
    ///     .timeout(Duration::from_secs(20))
    ///     .connect("https://mcp.example.com/mcp")
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "auth")]
    pub fn oauth(mut self, oauth: OAuth) -> Self {
        self.login = Some(Login::Settings(Box::new(oauth)));
        self
    }

    /// Sets authorization with tokens that several clients of one server share. The target must be
    /// the [server](Authorizer::server) of the authorizer. Replaces [`oauth`](Self::oauth).
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::auth::OAuth;
    /// use mcp::prelude::*;
    ///
    /// # async fn run() -> mcp::Result<()> {
    /// let url = "https://mcp.example.com/mcp";
    /// let authorizer = OAuth::interactive("My Agent").authorizer(url)?;
    /// authorizer.login().await?;
    /// let client = Client::builder().authorizer(&authorizer).connect(url).await?;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "auth")]
    pub fn authorizer(mut self, authorizer: &Authorizer) -> Self {
        self.login = Some(Login::Shared(authorizer.clone()));
        self
    }

    /// Sets the server's name in the log, such as its name in a configuration file. A command from a [`ServerSpec`] has
    /// this name in errors as well. Default: the URL, or the program's file name.
    ///
    /// [`ServerSpec`]: crate::group::ServerSpec
    pub fn server_name(mut self, name: &str) -> Self {
        self.server_name = Some(name.into());
        self
    }

    /// Sets the choice of the protocol revision. Default: [`ConnectMode::Auto`].
    pub fn mode(mut self, mode: ConnectMode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets the response timeout. Progress that the caller
    /// [requested](crate::PreparedCall::on_progress) restarts it. Default: 60 seconds.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeouts.idle = timeout;
        self
    }

    /// Sets the timeout of a whole call, including time with progress. Default: 10 minutes.
    pub fn max_total_timeout(mut self, timeout: Duration) -> Self {
        self.timeouts.total = timeout;
        self
    }

    /// Sets the timeout of `server/discover` on a pipe. A server that does not answer in time is
    /// treated as a legacy server. Default: 5 seconds.
    // spec: COMPAT-08
    pub fn probe_timeout(mut self, timeout: Duration) -> Self {
        self.probe_timeout = timeout;
        self
    }

    /// Remembers for a day, in a file, that the server on a pipe leaves `server/discover` unanswered: later clients
    /// with this file begin with `initialize`. A connection that fails forgets it. The file's name should change with
    /// the server, as `ServerCommand::fingerprint` does. Default: only a [group](crate::group) remembers, while it
    /// lives.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use std::path::Path;
    ///
    /// use mcp::ServerCommand;
    /// use mcp::prelude::*;
    ///
    /// # async fn run(cache: &Path) -> mcp::Result<()> {
    /// let command = ServerCommand::new("old-server");
    /// let client = Client::builder()
    ///     .remember_silence(cache.join(command.fingerprint()))
    ///     .connect(command)
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    // spec: COMPAT-12
    pub fn remember_silence(mut self, file: impl Into<PathBuf>) -> Self {
        self.silence_file = Some(file.into());
        self
    }
}

//! Connecting: which revision is spoken, and with whom.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning>

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};
use mcp_core::close_signal::CloseSignal;
use mcp_core::mrtr::Mrtr;
use mcp_core::schema::Validator;
use mcp_core::versioning::{Verdict, newest_common};
use mcp_core::{Channel, ClientProfile, ClientRequest, ResultBody};
use mcp_types::{
    ClientCapabilities, CreateMessageResult, DiscoverResult, ElicitResult, Implementation,
    LoggingLevel, ProtocolVersion, Root,
};
use parking_lot::RwLock;

use crate::call;
use crate::client::{Dispatching, Inner, Known, Questions, ServerFacts};
use crate::clock::Timeouts;
use crate::error::Kind;
use crate::events::Events;
use crate::inputs::{Inputs, stray_root};
use crate::negotiate::negotiate;
use crate::negotiation::Negotiation;
use crate::options::{Options, header};
use crate::tool_index::ToolIndex;
use crate::watched::Watched;
use crate::{Cache, Client, ElicitRequest, Error, IntoInput, SampleRequest, UrlRequest};

/// How the revision is chosen.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub enum ConnectMode {
    /// Asks the server what it speaks and takes the newest revision that both sides know; opens a
    /// session with servers that want one.
    #[default]
    Auto,
    /// Takes this revision and no other. With one that has no sessions nothing is sent before the
    /// first call, so nothing is known of the server until [`Client::discover`] is called.
    Pin(ProtocolVersion),
    /// Opens a session without asking first: for servers that are known to be older than
    /// 2026-07-28.
    Legacy,
    /// Takes what an earlier [`Negotiation`](crate::Negotiation) has found out. A server that has
    /// changed since then is found out when a session is opened, and when a call fails.
    // spec: COMPAT-12
    Prior(Verdict),
}

/// Settings of a [`Client`], made by [`Client::builder`].
///
/// # Examples
///
/// ```no_run
/// use std::time::Duration;
/// use mcp_client::{Client, ConnectMode};
/// use mcp_transport_http::HttpChannel;
/// use mcp_types::ProtocolVersion;
///
/// # async fn example() -> Result<(), mcp_client::Error> {
/// let client = Client::builder()
///     .identity("my-agent", "1.0.0")
///     .mode(ConnectMode::Pin(ProtocolVersion::LATEST))
///     .timeout(Duration::from_secs(20))
///     .over(HttpChannel::new("http://127.0.0.1:8000/mcp")?)
///     .await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "connects with `over`"]
pub struct ClientBuilder {
    profile: ClientProfile,
    mode: ConnectMode,
    timeouts: Timeouts,
    inputs: Inputs,
    input_rounds: usize,
    cache: Cache,
    principal: Option<Box<str>>,
    log_level: Option<LoggingLevel>,
    validator: Option<Arc<dyn Validator>>,
    probe_timeout: Duration,
    headers: HeaderMap,
    /// A header that cannot be one.
    problem: Option<Box<str>>,
}

impl Default for ClientBuilder {
    fn default() -> Self {
        let info = Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        Self {
            profile: ClientProfile::new(info),
            mode: ConnectMode::default(),
            timeouts: Timeouts::default(),
            inputs: Inputs::default(),
            input_rounds: Mrtr::DEFAULT_ROUNDS,
            cache: Cache::default(),
            principal: None,
            log_level: None,
            validator: None,
            probe_timeout: Duration::from_secs(5),
            headers: HeaderMap::new(),
            problem: None,
        }
    }
}

impl ClientBuilder {
    /// Sets name and version, which the server gets with every call.
    pub fn identity(self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.implementation(Implementation::new(name, version))
    }

    /// Sets the whole identity: title, icons and more beside name and version.
    pub fn implementation(mut self, info: Implementation) -> Self {
        self.profile.info = info;
        self
    }

    /// Declares more than the handlers given here imply: that the language model calls tools, or
    /// what a program answers [by hand](crate::PreparedCall::manual). A capability that is declared
    /// must be honoured.
    // spec: VER-14
    pub fn capabilities(mut self, capabilities: ClientCapabilities) -> Self {
        self.profile.capabilities = capabilities;
        self
    }

    /// Sets who fills in forms, and declares that somebody does. Several forms may be open at once.
    ///
    /// The handler runs on the task of the call that needs the answer, or of the session; its time
    /// is not counted as the server's. Its answer gets the defaults of the form and is checked
    /// against it. An error or a panic ends the call.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp_client::{Client, ElicitRequest};
    /// use mcp_types::ElicitResult;
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
        self.inputs.on_form(handler);
        self
    }

    /// Sets who sends the user to URLs, and declares that somebody does. See [`UrlRequest`] for
    /// what that takes.
    pub fn on_elicit_url<F, Fut>(mut self, handler: F) -> Self
    where
        F: Fn(UrlRequest) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoInput<ElicitResult>> + Send + 'static,
    {
        self.inputs.on_url(handler);
        self
    }

    /// Sets who asks the language model, and declares that there is one. It should let the user
    /// see what is asked, and may return [`Rejected`](crate::Rejected).
    ///
    /// Tools are declared with [`capabilities`](Self::capabilities).
    // spec: SAMP-13
    pub fn on_sample<F, Fut>(mut self, handler: F) -> Self
    where
        F: Fn(SampleRequest) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoInput<CreateMessageResult>> + Send + 'static,
    {
        self.inputs.on_sample(handler);
        self
    }

    /// Sets the roots, each a `file://` URI or a [`Root`], and declares that there are some.
    // spec: ROOT-03
    pub fn roots(mut self, roots: impl IntoIterator<Item = impl Into<Root>>) -> Self {
        self.inputs
            .set_roots(roots.into_iter().map(Into::into).collect());
        self
    }

    /// Sets how many times one call may be asked for input. Default: 10.
    // spec: MRTR-18
    pub fn max_input_rounds(mut self, rounds: usize) -> Self {
        self.input_rounds = rounds;
        self
    }

    /// Sets where answers are kept that the server declares fresh. Default: a cache of 8 MiB for
    /// this client alone; `Cache::new(0)` keeps nothing.
    pub fn cache(mut self, cache: Cache) -> Self {
        self.cache = cache;
        self
    }

    /// Names the one in whose name this client calls, for a [cache](Self::cache) that several
    /// clients share: what the server calls private is shared by clients that name the same one.
    /// Without a name it is shared with nobody.
    // spec: CACHE-08
    pub fn principal(mut self, principal: impl Into<Box<str>>) -> Self {
        self.principal = Some(format!("p:{}", principal.into()).into());
        self
    }

    /// Sets the least level of log messages that calls ask for; see [`Client::logs`]. Default: none
    /// is asked for.
    // spec: META-11
    pub fn log_level(mut self, level: LoggingLevel) -> Self {
        self.log_level = Some(level);
        self
    }

    /// Checks structured results against the output schemas of their tools, for tools that were
    /// listed; a result that breaks its schema is an error. Default: nothing is checked.
    // spec: TOOL-17
    pub fn validate_with(mut self, validator: impl Validator) -> Self {
        self.validator = Some(Arc::new(validator));
        self
    }

    /// Sets a header of every request, over transports that have them: a token, a tenant. It comes
    /// before one of the same name that the channel has, and one that a
    /// [call](crate::PreparedCall::header) has comes before it. Headers of the protocol itself cannot
    /// be set. What no header can be is an error when the client connects.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp_client::Client;
    ///
    /// let builder = Client::builder().header("x-tenant", "acme").bearer_token("…");
    /// ```
    pub fn header(
        mut self,
        name: impl TryInto<HeaderName> + AsRef<str>,
        value: impl TryInto<HeaderValue>,
    ) -> Self {
        let shown = name.as_ref().into();
        match header(name, value) {
            Ok((name, value)) => {
                self.headers.insert(name, value);
            }
            Err(_) => {
                self.problem.get_or_insert(shown);
            }
        }
        self
    }

    /// Sends a token with every request, as `Authorization: Bearer …`. For tokens that expire see
    /// `headers_from` of the channel.
    pub fn bearer_token(self, token: impl AsRef<str>) -> Self {
        self.header(AUTHORIZATION, format!("Bearer {}", token.as_ref()))
    }

    /// Sets how the revision is chosen. Default: [`ConnectMode::Auto`].
    pub fn mode(mut self, mode: ConnectMode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets how long a call waits for its answer; progress that the caller
    /// [asked for](crate::PreparedCall::on_progress) starts the time anew. Default: 60 seconds.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeouts.idle = timeout;
        self
    }

    /// Sets how long a call may take in all, whatever progress it reports. Default: 10 minutes.
    pub fn max_total_timeout(mut self, timeout: Duration) -> Self {
        self.timeouts.total = timeout;
        self
    }

    /// Sets how long a server on a pipe may be silent when it is asked what it speaks; after that it
    /// is taken for one of the legacy era. Default: 5 seconds.
    // spec: COMPAT-08
    pub fn probe_timeout(mut self, timeout: Duration) -> Self {
        self.probe_timeout = timeout;
        self
    }

    /// Connects over a channel.
    ///
    /// # Errors
    ///
    /// An [`Error`] when the server does not answer, when the two sides have no revision in common
    /// ([`Error::supported_versions`] tells what the server speaks), when a root is no `file://`
    /// URI, or when a header cannot be one.
    pub async fn over(mut self, mut channel: impl Channel) -> Result<Client, Error> {
        if let Some(name) = self.problem {
            return Err(Kind::Header(name).into());
        }
        if !self.headers.is_empty() {
            channel.set_headers(self.headers);
        }
        if let Some(uri) = self
            .inputs
            .roots()
            .and_then(|roots| stray_root(&roots.read()))
        {
            return Err(Kind::Root(uri).into());
        }
        self.profile.capabilities = self.inputs.declare(self.profile.capabilities);
        let Start {
            spoken,
            verdict,
            asks,
        } = Start::of(self.mode);
        let client = Client {
            inner: Arc::new(Inner {
                channel: Box::new(channel),
                profile: self.profile,
                inputs: self.inputs.of_one_client(),
                input_rounds: self.input_rounds,
                timeouts: self.timeouts,
                spoken,
                known: RwLock::new(Known {
                    version: verdict.version(),
                    server: server_of(&verdict),
                    log_level: self.log_level,
                    negotiation: Negotiation::new(Vec::new(), verdict).into(),
                    session: 0,
                }),
                last_id: AtomicI64::new(0),
                closing: CloseSignal::default(),
                cache: self.cache,
                principal: self.principal.unwrap_or_else(stranger),
                events: Events::default(),
                tools: ToolIndex::new(self.validator),
                probe_timeout: self.probe_timeout,
                dispatcher: Dispatching::default(),
                renewing: tokio::sync::Mutex::default(),
                watched: Watched::default(),
                questions: Questions::default(),
            }),
        };
        if asks {
            negotiate(&client).await?;
        } else {
            client.inner.channel.set_version(client.protocol_version());
        }
        Ok(client)
    }
}

/// What a mode comes to.
struct Start {
    spoken: Vec<ProtocolVersion>,
    verdict: Verdict,
    /// The server has to be asked.
    asks: bool,
}

impl Start {
    fn of(mode: ConnectMode) -> Self {
        let all = ProtocolVersion::ALL;
        let (modern, legacy): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|version| version.is_modern());
        match mode {
            ConnectMode::Auto => Self {
                spoken: all.to_vec(),
                verdict: Verdict::modern(ProtocolVersion::LATEST, None),
                asks: true,
            },
            ConnectMode::Legacy => Self {
                spoken: legacy,
                verdict: Verdict::legacy(ProtocolVersion::LATEST_LEGACY),
                asks: true,
            },
            ConnectMode::Pin(version) if version.is_modern() => Self {
                spoken: vec![version],
                verdict: Verdict::modern(version, None),
                asks: false,
            },
            ConnectMode::Pin(version) => Self {
                spoken: vec![version],
                verdict: Verdict::legacy(version),
                asks: true,
            },
            ConnectMode::Prior(verdict) => {
                let is_modern = verdict.version().is_modern();
                Self {
                    spoken: if is_modern { modern } else { legacy },
                    asks: !is_modern,
                    verdict,
                }
            }
        }
    }
}

/// What a verdict of earlier knows of the server.
fn server_of(verdict: &Verdict) -> Option<Arc<ServerFacts>> {
    match verdict {
        Verdict::Modern { server, .. } => {
            let server = server.as_deref().cloned();
            server.map(|server| Arc::new(server.into()))
        }
        _ => None,
    }
}

/// A name that no other client of this process has.
fn stranger() -> Box<str> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("n:{}", COUNT.fetch_add(1, Ordering::Relaxed)).into()
}

impl Client {
    /// Settings to connect with, all of which have defaults.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }

    /// Connects over a channel, with the defaults of [`Client::builder`].
    ///
    /// # Errors
    ///
    /// See [`ClientBuilder::over`].
    pub async fn over(channel: impl Channel) -> Result<Self, Error> {
        Self::builder().over(channel).await
    }

    /// Asks the server who it is, what it offers and what it speaks, and remembers the answer.
    ///
    /// # Errors
    ///
    /// An [`Error`] when the server does not answer, or when the two sides have no revision in
    /// common.
    // spec: VER-04, VER-07
    pub async fn discover(&self) -> Result<DiscoverResult, Error> {
        let asked = ClientRequest::Discover;
        let version = self.protocol_version();
        if !version.is_modern() {
            return Err(Kind::NothingToDiscover(version).into());
        }
        let found = match call::run(self, asked.clone(), Options::default()).await? {
            ResultBody::Discover(found) => Arc::unwrap_or_clone(found),
            _ => {
                return Err(Error::of(
                    &self.inner.channel.peer(),
                    &asked,
                    Kind::OtherResult,
                ));
            }
        };
        let Some(version) = newest_common(&found.supported_versions, &self.inner.spoken) else {
            let kind = Kind::no_common_version(found.supported_versions, &self.inner.spoken);
            return Err(Error::of(&self.inner.channel.peer(), &asked, kind));
        };
        let server = Some(Arc::new(found.clone().into()));
        self.inner.learn(|known| {
            known.version = version;
            known.server = server;
        });
        Ok(found)
    }
}

//! [`HttpChannel`]: the channel of a client over HTTP.

use std::borrow::Cow;
use std::error::Error;
use std::sync::{Arc, OnceLock};
use std::{fmt, iter};

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, Uri};
use http_body::Body;
use mcp_core::close_signal::CloseSignal;
use mcp_core::{
    BoxFuture, Channel, ChannelError, CloseReason, Connection, Frames, OneWayMessage,
    OutgoingRequest, ServerIdentity,
};
use mcp_types::{ProtocolVersion, RequestId};
use tower_service::Service;

use super::http_client::HttpClient;
use super::legacy::{ChannelSessions, SessionSettings};
use super::modern;
use super::request::{self, ChannelService, RequestSender};
use super::server_url::ServerUrl;
use crate::sse::SseLimits;

/// A client channel to a server over HTTP, for every protocol revision.
///
/// Every call is one POST. The server responds with JSON or with an event stream. Redirects are not
/// followed. Errors show scheme, host and path of the URL, never its credentials or query.
///
/// In revision 2026-07-28 there is no session: dropping a call closes its POST, which cancels it.
///
/// In older revisions `initialize` opens a session. The channel then
///
/// - sends the session id and the revision with every request, and never shows the id;
/// - resumes a broken stream after its last event, if the events have ids;
/// - opens the standalone GET stream once `notifications/initialized` is accepted, and keeps it
///   open ([`standalone_stream`](Self::standalone_stream));
/// - queues `notifications/cancelled` for a dropped call, unless 64 cancellations are queued
///   already;
/// - fails calls with [`ChannelError::SessionExpired`] once the server responds with 404, until
///   `initialize` is called again. Calls that the server had accepted fail with
///   [`ChannelError::Broken`], because the server may have executed them;
/// - deletes the session when the channel is closed, and tries to when it is dropped.
///
/// The server's requests, and notifications that belong to no call, are queued for
/// [`inbound`](Channel::inbound): at most 256 messages and 16 MiB per session. When the queue is
/// full, the stream that carries the next message is not read until there is space. Before
/// `inbound` is called, messages that do not fit are dropped. Each session spawns one tokio task.
///
/// A server that refuses `initialize` with 400, 404 or 405 may speak the HTTP+SSE transport of
/// 2024-11-05, which has two URLs. The channel tries that transport by itself
/// ([`http_sse`](Self::http_sse)).
///
/// Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http>
///
/// # Examples
///
/// ```
/// use mcp::HttpChannel;
///
/// let channel = HttpChannel::new("https://example.com/mcp")?
///     .header("authorization", "Bearer …")?
///     .body_limit(1 << 20);
/// # Ok::<(), mcp::core::ChannelError>(())
/// ```
pub struct HttpChannel {
    http: Arc<RequestSender>,
    settings: SessionSettings,
    closing: CloseSignal<CloseReason>,
    sessions: OnceLock<ChannelSessions>,
    /// `None` for an HTTP client that the program provides, because it may reach any server.
    identity: Option<ServerIdentity>,
}

impl HttpChannel {
    /// Creates a channel to `url` with its own [`HttpClient`]. Sends nothing yet.
    ///
    /// A user name and password in the URL become an `Authorization: Basic` header.
    ///
    /// # Errors
    ///
    /// Returns [`ChannelError::NotSendable`] when `url` is not an `http:` or `https:` URL.
    pub fn new(url: impl AsRef<str>) -> Result<Self, ChannelError> {
        let mut channel = Self::with_service(url, HttpClient::new()?)?;
        let uri = channel.http.server_url.uri.to_string();
        channel.identity = Some(ServerIdentity::from_parts("url", [uri]));
        Ok(channel)
    }

    /// Creates a channel to `url` over any HTTP client that is a tower service, such as a
    /// [`HttpClient`] with layers.
    ///
    /// A [`ChannelError`] of the service is returned unchanged. Other errors become
    /// [`ChannelError::Broken`].
    ///
    /// # Errors
    ///
    /// Returns [`ChannelError::NotSendable`] when `url` is not an `http:` or `https:` URL.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use mcp::{HttpChannel, HttpClient};
    ///
    /// let http = HttpClient::builder().connect_timeout(Duration::from_secs(2)).build()?;
    /// let channel = HttpChannel::with_service("http://127.0.0.1:8000/mcp", http)?;
    /// # Ok::<(), mcp::core::ChannelError>(())
    /// ```
    pub fn with_service<S, B>(url: impl AsRef<str>, service: S) -> Result<Self, ChannelError>
    where
        S: Service<Request<Bytes>, Response = Response<B>> + Clone + Send + 'static,
        S::Future: Send + 'static,
        S::Error: Into<Box<dyn Error + Send + Sync>>,
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let server_url = ServerUrl::parse(url.as_ref())?;
        Ok(Self {
            http: Arc::new(RequestSender::new(server_url, ChannelService::new(service))),
            settings: SessionSettings::default(),
            closing: CloseSignal::default(),
            sessions: OnceLock::new(),
            identity: None,
        })
    }

    /// Adds a header to every request.
    ///
    /// # Errors
    ///
    /// Returns [`ChannelError::NotSendable`] when the name or the value is not valid in a header, and for a
    /// header that the transport sets by itself (`Accept`, `Content-Type`, `Host`, `Mcp-Session-Id`, …).
    pub fn header(
        mut self,
        name: impl TryInto<HeaderName>,
        value: impl TryInto<HeaderValue>,
    ) -> Result<Self, ChannelError> {
        let name = name
            .try_into()
            .map_err(|_| ChannelError::NotSendable("the name of a header is invalid".to_owned()))?;
        if request::is_reserved(&name) {
            let message = format!("the transport sets the header {name} by itself");
            return Err(ChannelError::NotSendable(message));
        }
        let mut value = value.try_into().map_err(|_| {
            ChannelError::NotSendable(format!("the value of the header {name} is invalid"))
        })?;
        value.set_sensitive(true);
        self.http().headers.insert(name, value);
        Ok(self)
    }

    /// Calls `provider` for headers before each request, for example for tokens that expire. They
    /// replace headers of [`header`](Self::header) with the same name. Headers of a call replace
    /// both.
    ///
    /// If the provider fails, the request is not sent. The call fails with
    /// [`ChannelError::NotSendable`], or with the provider's error if it is a [`ChannelError`]. The
    /// message of the error is shown, so it must not contain secrets.
    ///
    /// # Examples
    ///
    /// ```
    /// use http::{HeaderMap, HeaderValue, header::AUTHORIZATION};
    /// use mcp::HttpChannel;
    ///
    /// # async fn fresh_token() -> std::io::Result<String> { Ok(String::new()) }
    /// let channel = HttpChannel::new("https://example.com/mcp")?.headers_from(|| async {
    ///     let mut token = HeaderValue::try_from(format!("Bearer {}", fresh_token().await?))
    ///         .map_err(std::io::Error::other)?;
    ///     token.set_sensitive(true);
    ///     Ok::<_, std::io::Error>(HeaderMap::from_iter([(AUTHORIZATION, token)]))
    /// });
    /// # Ok::<(), mcp::core::ChannelError>(())
    /// ```
    #[must_use]
    pub fn headers_from<F, R, E>(mut self, provider: F) -> Self
    where
        F: Fn() -> R + Send + Sync + 'static,
        R: Future<Output = Result<HeaderMap, E>> + Send + 'static,
        E: Into<Box<dyn Error + Send + Sync>> + 'static,
    {
        self.http().provider = Some(request::header_provider(provider));
        self
    }

    /// Sets the largest size of a JSON response in bytes. Default: 64 MiB.
    #[must_use]
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.http().limits.body = bytes;
        self
    }

    /// Sets the limits of event streams. Default: see [`SseLimits`].
    #[must_use]
    pub fn event_limits(mut self, limits: SseLimits) -> Self {
        self.http().limits.events = limits;
        self
    }

    /// Sets whether a session opens the standalone GET stream, on which the server sends
    /// notifications of changes. A server without one responds with 405; the channel then does not
    /// try again. Default: yes.
    // spec: HTTP-C-11
    #[must_use]
    pub fn standalone_stream(mut self, enabled: bool) -> Self {
        self.settings.standalone = enabled;
        self
    }

    /// Sets whether HTTP+SSE of 2024-11-05 is tried when the server refuses `initialize` with 400,
    /// 404 or 405 and without a JSON-RPC message. Default: yes.
    ///
    /// The channel closes when the event stream of such a server ends.
    // spec: COMPAT-13
    #[must_use]
    pub fn http_sse(mut self, enabled: bool) -> Self {
        self.settings.http_sse = enabled;
        self
    }

    /// Returns the URL without credentials. Its query may contain secrets.
    pub fn url(&self) -> &Uri {
        &self.http.server_url.uri
    }

    /// Wraps the channel's HTTP client in another service, as a tower layer does.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::HttpChannel;
    /// use mcp::auth::OAuth;
    ///
    /// let url = "https://mcp.example.com/mcp";
    /// let authorizer = OAuth::interactive("My Agent").authorizer(url)?;
    /// let channel = HttpChannel::new(url)?.map_service(|http| authorizer.service(http));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn map_service<S, B>(mut self, wrap: impl FnOnce(ChannelService) -> S) -> Self
    where
        S: Service<Request<Bytes>, Response = Response<B>> + Clone + Send + 'static,
        S::Future: Send + 'static,
        S::Error: Into<Box<dyn Error + Send + Sync>>,
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let http = self.http();
        http.service = ChannelService::new(wrap(http.service.clone()));
        self.identity = None;
        self
    }

    fn http(&mut self) -> &mut RequestSender {
        Arc::make_mut(&mut self.http)
    }

    /// Returns the sessions. They are created on first use, after all settings are made.
    fn sessions(&self) -> &ChannelSessions {
        self.sessions.get_or_init(|| {
            let (http, closing) = (Arc::clone(&self.http), self.closing.clone());
            ChannelSessions::new(http, closing, self.settings)
        })
    }
}

/// A clone has the same URL and settings, and sessions of its own.
impl Clone for HttpChannel {
    fn clone(&self) -> Self {
        Self {
            http: Arc::clone(&self.http),
            settings: self.settings,
            closing: CloseSignal::default(),
            sessions: OnceLock::new(),
            identity: self.identity,
        }
    }
}

impl Channel for HttpChannel {
    fn call(&self, out: OutgoingRequest) -> Frames {
        if !out.mirrored.version.is_modern() {
            return self.sessions().call(out);
        }
        let frames = modern::frames(Arc::clone(&self.http), out);
        let closing = self.closing.clone();
        // Evaluated at the end of the frames, which is early if the channel is closed.
        let reason = iter::once_with(move || closing.reason()).flatten();
        let closed = stream::iter(reason.map(|reason| Err(ChannelError::Closed(reason))));
        Box::pin(frames.take_until(self.closing.closed()).chain(closed))
    }

    fn peer(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.http.server_url.shown)
    }

    /// Hashes the URL with its query. A channel of [`with_service`](Self::with_service) has no
    /// identity, because the service decides which server it reaches.
    fn identity(&self) -> Option<ServerIdentity> {
        self.identity
    }

    fn connection(&self) -> Option<Connection> {
        let mut connection = self.http.server_url.connection();
        connection.state = Some(Arc::clone(&self.http.state));
        Some(connection)
    }

    // spec: XHDR-02
    fn mirrors_arguments(&self) -> bool {
        true
    }

    fn set_headers(&mut self, headers: HeaderMap) {
        let http = self.http();
        http.warn_about_reserved(&headers);
        request::replace_headers(&mut http.headers, &headers);
    }

    fn notify(&self, out: OneWayMessage) -> BoxFuture<'static, Result<(), ChannelError>> {
        if !out.mirrored.version.is_modern() {
            return self.sessions().notify(out);
        }
        let closed = self.closing.closed();
        let sending = modern::notify(Arc::clone(&self.http), out);
        Box::pin(async move {
            tokio::select! {
                biased;
                reason = closed => Err(ChannelError::Closed(reason)),
                sent = sending => sent,
            }
        })
    }

    fn fail_call(&self, id: &RequestId, error: ChannelError) {
        self.sessions().fail_call(id, error);
    }

    fn inbound(&self) -> Option<Frames> {
        self.sessions().inbound()
    }

    fn inbound_restored(&self) -> BoxFuture<'static, bool> {
        self.sessions().inbound_restored()
    }

    fn set_version(&self, version: ProtocolVersion) {
        self.sessions().set_version(version);
    }

    fn closed(&self) -> BoxFuture<'static, CloseReason> {
        Box::pin(self.closing.closed())
    }

    fn close(&self) -> BoxFuture<'static, Result<(), ChannelError>> {
        self.closing.close(CloseReason::Local);
        self.sessions().close()
    }
}

/// Omits headers, credentials and query, which may be secrets.
impl fmt::Debug for HttpChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpChannel")
            .field("url", &self.http.server_url.shown)
            .finish_non_exhaustive()
    }
}

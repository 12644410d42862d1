//! The client's side: [`HttpChannel`], one POST per call.
//!
//! | you look for | module |
//! |---|---|
//! | a call without a session | `modern` |
//! | sessions, their streams, their end; HTTP+SSE | `legacy` |
//! | what an answer may be | `answer` |
//! | what every request carries, and who sends it | `requests` |
//! | the URL: what is sent, what is shown | `endpoint` |
//! | the HTTP client underneath | `reqwest`, `tls` |
//! | reading bodies, cutting excerpts | `body` |

mod answer;
mod body;
mod endpoint;
mod legacy;
mod modern;
mod requests;
mod reqwest;
mod tls;
mod until_closed;

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use http_body::Body;
use mcp_core::close_signal::CloseSignal;
use mcp_core::{
    BoxFuture, Channel, ChannelError, CloseReason, Frames, OneWayMessage, OutgoingRequest,
};
use mcp_types::ProtocolVersion;
use tower_service::Service;

use crate::sse::SseLimits;
use endpoint::Endpoint;
use legacy::{Sessions, Settings};
use requests::Http;
use until_closed::UntilClosed;

pub use self::reqwest::{HttpBody, HttpClient};

type BoxError = Box<dyn Error + Send + Sync>;

/// How much of an answer is taken.
#[derive(Clone, Copy)]
struct Limits {
    body: usize,
    events: SseLimits,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 64 << 20,
            events: SseLimits::default(),
        }
    }
}

/// A client's way to a server over HTTP, in every revision.
///
/// Every call is one POST. Its answer is JSON or a stream of events, as the server likes. Redirects
/// are not followed, and what the URL holds beside scheme, host and path (credentials, a query)
/// never appears in an error.
///
/// Without a session (2026-07-28), dropping a call closes its POST, which cancels it.
///
/// In a session, which a call of `initialize` opens, the channel
///
/// - sends the session's id and the revision with every request, and shows the id to nobody;
/// - goes on with a stream that broke, from its last event on, if its events have ids;
/// - asks for the stream outside of calls once `notifications/initialized` is accepted, and keeps
///   it open ([`standalone_stream`](Self::standalone_stream));
/// - queues a `notifications/cancelled` for a call that is dropped, and leaves it out when 64 of
///   them wait already;
/// - fails calls with [`ChannelError::SessionExpired`] once the server answers 404, until
///   `initialize` is called anew; calls that the server had taken fail with
///   [`ChannelError::Broken`], since it may have done what they ask;
/// - ends the session when it is closed, and tries to when it is dropped.
///
/// Requests of the server, and notifications that belong to no call, wait in
/// [`inbound`](Channel::inbound), which each session has anew: at most 256 of them and 16 MiB. When
/// that is full, the stream that brought the next one is not read on until there is room; as long
/// as nobody has asked for `inbound`, what finds no room is lost. Sessions need a tokio runtime:
/// one task of it belongs to each.
///
/// A server that refuses `initialize` with 400, 404 or 405 may be one of 2024-11-05, whose
/// transport had two URLs. The channel finds that out by itself ([`http_sse`](Self::http_sse)).
///
/// # Examples
///
/// ```
/// use mcp_transport_http::client::HttpChannel;
///
/// let channel = HttpChannel::new("https://example.com/mcp")?
///     .header("authorization", "Bearer …")?
///     .body_limit(1 << 20);
/// # Ok::<(), mcp_core::ChannelError>(())
/// ```
pub struct HttpChannel {
    http: Arc<Http>,
    settings: Settings,
    closing: CloseSignal<CloseReason>,
    sessions: OnceLock<Sessions>,
}

impl HttpChannel {
    /// A channel to `url` over a [`HttpClient`] of its own. Nothing is sent yet.
    ///
    /// A user name and password in the URL become an `Authorization: Basic` header.
    ///
    /// # Errors
    ///
    /// [`ChannelError::Unsendable`] when the URL is none of HTTP.
    pub fn new(url: impl AsRef<str>) -> Result<Self, ChannelError> {
        Self::with_service(url, HttpClient::new()?)
    }

    /// A channel to `url` over any HTTP client, such as a [`HttpClient`] in layers.
    ///
    /// An error of the service that is a [`ChannelError`] is passed on as it is; all others become
    /// [`ChannelError::Broken`].
    ///
    /// # Errors
    ///
    /// [`ChannelError::Unsendable`] when the URL is none of HTTP.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use mcp_transport_http::client::{HttpChannel, HttpClient};
    ///
    /// let http = HttpClient::with_connect_timeout(Duration::from_secs(2))?;
    /// let channel = HttpChannel::with_service("http://127.0.0.1:8000/mcp", http)?;
    /// # Ok::<(), mcp_core::ChannelError>(())
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
        let endpoint = Endpoint::parse(url.as_ref())?;
        Ok(Self {
            http: Arc::new(Http::new(endpoint, service)),
            settings: Settings::default(),
            closing: CloseSignal::default(),
            sessions: OnceLock::new(),
        })
    }

    /// Sets a header of every request. Headers of the protocol itself cannot be set; they are left
    /// out.
    ///
    /// # Errors
    ///
    /// [`ChannelError::Unsendable`] when no header can have this name or value.
    pub fn header(
        mut self,
        name: impl TryInto<HeaderName>,
        value: impl TryInto<HeaderValue>,
    ) -> Result<Self, ChannelError> {
        let name = name
            .try_into()
            .map_err(|_| ChannelError::Unsendable("the name of a header is invalid".to_owned()))?;
        let mut value = value.try_into().map_err(|_| {
            ChannelError::Unsendable(format!("the value of the header {name} is invalid"))
        })?;
        value.set_sensitive(true);
        self.http().headers.insert(name, value);
        Ok(self)
    }

    /// Asks `provider` for headers before each request: tokens that expire, for example. They come
    /// before those of [`header`](Self::header), and those of a call come before them.
    ///
    /// A request whose headers are not to be had is not sent, and its call fails with
    /// [`ChannelError::Unsendable`], or with the error of the provider if it is a [`ChannelError`].
    /// The error is shown: it must not tell secrets.
    ///
    /// # Examples
    ///
    /// ```
    /// use http::{HeaderMap, HeaderValue, header::AUTHORIZATION};
    /// use mcp_transport_http::client::HttpChannel;
    ///
    /// # async fn fresh_token() -> std::io::Result<String> { Ok(String::new()) }
    /// let channel = HttpChannel::new("https://example.com/mcp")?.headers_from(|| async {
    ///     let mut token = HeaderValue::try_from(format!("Bearer {}", fresh_token().await?))
    ///         .map_err(std::io::Error::other)?;
    ///     token.set_sensitive(true);
    ///     Ok::<_, std::io::Error>(HeaderMap::from_iter([(AUTHORIZATION, token)]))
    /// });
    /// # Ok::<(), mcp_core::ChannelError>(())
    /// ```
    #[must_use]
    pub fn headers_from<F, R, E>(mut self, provider: F) -> Self
    where
        F: Fn() -> R + Send + Sync + 'static,
        R: Future<Output = Result<HeaderMap, E>> + Send + 'static,
        E: Into<Box<dyn Error + Send + Sync>> + 'static,
    {
        self.http().provider = Some(requests::provider(provider));
        self
    }

    /// Sets how long a JSON answer may be, in bytes. Default: 64 MiB.
    #[must_use]
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.http().limits.body = bytes;
        self
    }

    /// Sets how much a stream of events may hold. Default: see [`SseLimits`].
    #[must_use]
    pub fn event_limits(mut self, limits: SseLimits) -> Self {
        self.http().limits.events = limits;
        self
    }

    /// Sets whether a session asks for the stream outside of calls, on which the server tells what
    /// has changed. A server without one answers 405, which is final. Default: yes.
    // spec: HTTP-C-11
    #[must_use]
    pub fn standalone_stream(mut self, asks: bool) -> Self {
        self.settings.standalone = asks;
        self
    }

    /// Sets whether HTTP+SSE of 2024-11-05 is tried on a server that refuses `initialize` with 400,
    /// 404 or 405 and without a message. Default: yes.
    ///
    /// The stream of such a server is its connection: when it ends, so does the channel.
    // spec: COMPAT-13
    #[must_use]
    pub fn http_sse(mut self, tries: bool) -> Self {
        self.settings.http_sse = tries;
        self
    }

    fn http(&mut self) -> &mut Http {
        Arc::make_mut(&mut self.http)
    }

    /// Made when the first is needed, with the settings of then.
    fn sessions(&self) -> &Sessions {
        self.sessions.get_or_init(|| {
            let (http, closing) = (Arc::clone(&self.http), self.closing.clone());
            Sessions::new(http, closing, self.settings)
        })
    }
}

impl Channel for HttpChannel {
    fn call(&self, out: OutgoingRequest) -> Frames {
        if !out.mirrored.version.is_modern() {
            return self.sessions().call(out);
        }
        let closed = self.closing.closed();
        let frames = modern::frames(Arc::clone(&self.http), out);
        Box::pin(UntilClosed::new(frames, closed))
    }

    fn peer(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.http.endpoint.shown)
    }

    // spec: XHDR-02
    fn mirrors_arguments(&self) -> bool {
        true
    }

    fn set_headers(&mut self, headers: HeaderMap) {
        requests::replace(&mut self.http().headers, &headers);
    }

    fn notify(&self, out: OneWayMessage) -> BoxFuture<'static, Result<(), ChannelError>> {
        self.sessions().notify(out)
    }

    fn inbound(&self) -> Option<Frames> {
        self.sessions().inbound()
    }

    fn set_version(&self, version: ProtocolVersion) {
        self.sessions().set_version(version);
    }

    fn closed(&self) -> BoxFuture<'static, CloseReason> {
        Box::pin(self.closing.closed())
    }

    fn close(&self) -> BoxFuture<'static, ()> {
        self.closing.close(CloseReason::Local);
        self.sessions().close()
    }
}

/// Shows neither headers nor the rest of the URL: they may be secrets.
impl fmt::Debug for HttpChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpChannel")
            .field("url", &self.http.endpoint.shown)
            .finish_non_exhaustive()
    }
}

//! The client's side: [`HttpChannel`], one POST per call.
//!
//! | you look for | module |
//! |---|---|
//! | the request, and what its answer may be | `modern` |
//! | the URL: what is sent, what is shown | `endpoint` |
//! | the HTTP client underneath | `reqwest`, `tls` |
//! | reading bodies, cutting excerpts | `body` |

mod body;
mod endpoint;
mod modern;
mod reqwest;
mod tls;

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use http_body::Body;
use mcp_core::{Channel, ChannelError, Frames, OutCall};
use tower_service::Service;

use crate::sse::SseLimits;
use endpoint::Endpoint;

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

/// A client's way to a server over Streamable HTTP.
///
/// Every call is one POST. Its answer is JSON or a stream of events, as the server likes; dropping
/// the call closes the POST, which cancels it. Redirects are not followed, and what the URL holds
/// beside scheme, host and path (credentials, a query) never appears in an error.
///
/// # Examples
///
/// ```
/// use mcp_transport_http::client::HttpChannel;
///
/// let channel = HttpChannel::new("https://example.com/mcp")?
///     .header("authorization", "Bearer …")?
///     .max_body(1 << 20);
/// # Ok::<(), mcp_core::ChannelError>(())
/// ```
pub struct HttpChannel {
    endpoint: Arc<Endpoint>,
    headers: HeaderMap,
    limits: Limits,
    http: Arc<dyn Post>,
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
        Ok(Self {
            endpoint: Arc::new(Endpoint::parse(url.as_ref())?),
            headers: HeaderMap::new(),
            limits: Limits::default(),
            http: Arc::new(Tower(Mutex::new(service))),
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
        self.headers.insert(name, value);
        Ok(self)
    }

    /// Sets how long a JSON answer may be, in bytes. Default: 64 MiB.
    #[must_use]
    pub fn max_body(mut self, bytes: usize) -> Self {
        self.limits.body = bytes;
        self
    }

    /// Sets how much a stream of events may hold. Default: see [`SseLimits`].
    #[must_use]
    pub fn event_limits(mut self, limits: SseLimits) -> Self {
        self.limits.events = limits;
        self
    }
}

impl Channel for HttpChannel {
    fn call(&self, out: OutCall) -> Frames {
        let request = modern::request(&self.endpoint, &self.headers, out);
        self.http.post(request, self.endpoint.clone(), self.limits)
    }

    fn peer(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.endpoint.shown)
    }

    fn repeats_arguments(&self) -> bool {
        true
    }
}

/// Shows neither headers nor the rest of the URL: they may be secrets.
impl fmt::Debug for HttpChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpChannel")
            .field("url", &self.endpoint.shown)
            .finish_non_exhaustive()
    }
}

/// The seam below which HTTP clients differ.
trait Post: Send + Sync {
    fn post(&self, request: Request<Bytes>, endpoint: Arc<Endpoint>, limits: Limits) -> Frames;
}

/// Any HTTP client that is a tower service. The lock is held for as long as a clone takes: clones
/// of a service need not be shareable between threads.
struct Tower<S>(Mutex<S>);

impl<S, B> Post for Tower<S>
where
    S: Service<Request<Bytes>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Into<BoxError>,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    fn post(&self, request: Request<Bytes>, endpoint: Arc<Endpoint>, limits: Limits) -> Frames {
        let service = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        Box::pin(modern::frames(service, request, endpoint, limits))
    }
}

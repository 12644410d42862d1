//! The MCP endpoint as a tower service.

mod body;
mod call;
mod config;
mod guard;
mod modern;
mod respond;
mod route;
mod stream;

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::{HeaderMap, Request, Response, StatusCode};
use mcp_core::{Gate, Service};

use crate::Shutdown;
use body::BodyError;
use call::Recipient;
use config::Config;
use guard::{Head, Refusal};
use route::Route;

pub(crate) use body::discard;
pub use respond::Body;

/// An MCP server at one HTTP path: a tower service for hyper, axum and everything like them.
///
/// It is always ready, and a clone of it is the same endpoint. By default it serves requests to
/// and from this machine only; see [`allowed_hosts`](Self::allowed_hosts) and
/// [`allowed_origins`](Self::allowed_origins).
///
/// A call that ends in silence is answered with JSON. One that reports progress, logs, or takes
/// longer than [`commit_after`](Self::commit_after), is answered with a stream of events. A
/// client that goes away cancels its call: the service's future is dropped.
///
/// ```
/// use mcp_core::Service;
/// use mcp_transport_http::server::StreamableHttp;
///
/// fn endpoint(service: impl Service) -> StreamableHttp<impl Service> {
///     StreamableHttp::new(service)
///         .allowed_hosts(["mcp.example.com"])
///         .allowed_origins(["https://app.example.com"])
///         .body_limit(1 << 20)
/// }
/// ```
///
/// Headers: those of `Mcp-Param-*` and all others reach handlers as `http::request::Parts` in the
/// exchange's extensions, beside what layers of the web server have inserted into the request's.
pub struct StreamableHttp<S> {
    service: Arc<S>,
    config: Arc<Config>,
}

impl<S> Clone for StreamableHttp<S> {
    fn clone(&self) -> Self {
        Self {
            service: Arc::clone(&self.service),
            config: Arc::clone(&self.config),
        }
    }
}

impl<S> fmt::Debug for StreamableHttp<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamableHttp")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

impl<S: Service> StreamableHttp<S> {
    /// An endpoint for `service`.
    pub fn new(service: S) -> Self {
        Self {
            service: Arc::new(service),
            config: Arc::default(),
        }
    }
}

impl<S> StreamableHttp<S> {
    /// The names under which this server may be addressed, instead of `localhost`, `127.0.0.1`
    /// and `[::1]`: `"mcp.example.com"` with any port, `"mcp.example.com:8443"` with that one,
    /// `"*"` for any name at all.
    ///
    /// Requests with another `Host` are refused with 403: a web page that has tricked the browser
    /// into taking this server for its own (DNS rebinding) gives itself away by it.
    // spec: HTTP-S-04
    #[must_use]
    pub fn allowed_hosts<I: IntoIterator<Item: AsRef<str>>>(mut self, hosts: I) -> Self {
        self.config().guard.allow_hosts(hosts);
        self
    }

    /// The web pages that may call this server, instead of those from this machine:
    /// `"https://app.example.com"`, or `"*"` for all of them. Requests without an `Origin` do not
    /// come from a page and pass.
    ///
    /// This refuses calls; to permit them a browser wants CORS headers as well, which are the
    /// business of a layer around this service.
    // spec: HTTP-S-02
    #[must_use]
    pub fn allowed_origins<I: IntoIterator<Item: AsRef<str>>>(mut self, origins: I) -> Self {
        self.config().guard.allow_origins(origins);
        self
    }

    /// The largest body in bytes, 4 MiB by default. Larger ones are refused with 413.
    #[must_use]
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.config().guard.body_limit = bytes;
        self
    }

    /// How long a body may take to arrive, 30 s by default. Slower ones are refused with 408.
    #[must_use]
    pub fn body_timeout(mut self, time: Duration) -> Self {
        self.config().body_timeout = time;
        self
    }

    /// How long a call may be silent before its answer becomes a stream of events, 1 s by
    /// default. The stream can then be kept alive, but has no status other than 200.
    #[must_use]
    pub fn commit_after(mut self, time: Duration) -> Self {
        self.config().streams.commit_after = time;
        self
    }

    /// How long a stream may be silent before it gets a comment, 15 s by default.
    #[must_use]
    pub fn ping_interval(mut self, time: Duration) -> Self {
        self.config().streams.ping_interval = time;
        self
    }

    /// How long a stream may live, without a limit by default. The call of an older one is
    /// cancelled and answered with an error.
    #[must_use]
    pub fn max_stream_age(mut self, time: Duration) -> Self {
        self.config().streams.max_age = Some(time);
        self
    }

    /// Asks `gate` about every call before it is begun. A [`Principal`](mcp_core::Principal) that
    /// a layer has put into the request's extensions is shown to it.
    #[must_use]
    pub fn gate(mut self, gate: impl Gate) -> Self {
        self.config().gate = Some(Arc::new(gate));
        self
    }

    /// Ends streams when `shutdown` says so. [`Serve`](crate::Serve) brings its own.
    #[must_use]
    pub fn shutdown(mut self, shutdown: Shutdown) -> Self {
        self.config().shutdown = Some(shutdown);
        self
    }

    fn config(&mut self) -> &mut Config {
        Arc::make_mut(&mut self.config)
    }
}

impl<S, B> tower_service::Service<Request<B>> for StreamableHttp<S>
where
    S: Service,
    B: http_body::Body<Data: Send, Error: Send> + Send + 'static,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> ResponseFuture {
        ResponseFuture(Box::pin(respond(self.clone(), request)))
    }
}

/// The response of a [`StreamableHttp`]. Dropping it cancels the call.
#[must_use = "futures do nothing unless polled"]
pub struct ResponseFuture(Pin<Box<dyn Future<Output = Response<Body>> + Send>>);

impl Future for ResponseFuture {
    type Output = Result<Response<Body>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(cx).map(Ok)
    }
}

impl fmt::Debug for ResponseFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}

/// The way of a POST: its head, its body, its route.
async fn respond<S, B>(endpoint: StreamableHttp<S>, request: Request<B>) -> Response<Body>
where
    S: Service,
    B: http_body::Body,
{
    let StreamableHttp { service, config } = endpoint;
    let (parts, body) = request.into_parts();
    let mut body = pin!(body);
    let head = Head {
        method: &parts.method,
        uri: &parts.uri,
        headers: &parts.headers,
    };
    let admitted = match config.guard.check(head) {
        Ok(admitted) => admitted,
        Err(refusal) => return turn_away(body, &parts.headers, &config, refusal).await,
    };
    let limits = config.body_limits();
    let text = match body::read(body.as_mut(), admitted.content_length, limits).await {
        Ok(text) => text,
        Err(error) => {
            return turn_away(body, &parts.headers, &config, unread(&error, limits)).await;
        }
    };
    let profile = service.profile();
    let route = route::route(&parts.headers, &text, &profile, |tool| {
        service.header_plan(tool)
    });
    // Handlers may take long; what was read into `inbound` needs the text no more.
    drop(text);
    match route {
        Route::Modern { id, inbound } => {
            let to = Recipient { id, profile };
            modern::answer(&*service, &config, to, inbound, parts).await
        }
        Route::Accepted => respond::accepted(),
        Route::Refused { id, fault } => respond::fault(id.as_ref(), &fault),
    }
}

/// Refuses a request whose body was not read, or not to its end.
async fn turn_away<B: http_body::Body>(
    body: Pin<&mut B>,
    headers: &HeaderMap,
    config: &Config,
    refusal: Refusal,
) -> Response<Body> {
    discard(headers, body, config.guard.body_limit.saturating_mul(2)).await;
    respond::refusal(refusal)
}

fn unread(error: &BodyError, limits: body::Limits) -> Refusal {
    match error {
        BodyError::TooLarge => guard::too_large(limits.size),
        BodyError::TooSlow => Refusal::new(StatusCode::REQUEST_TIMEOUT, error.to_string()),
        BodyError::Broken => Refusal::new(StatusCode::BAD_REQUEST, error.to_string()),
    }
}

#[cfg(test)]
mod tests;

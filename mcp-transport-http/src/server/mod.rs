//! The MCP endpoint as a tower service.

mod answer;
mod body;
mod call;
mod config;
mod endpoint;
mod future;
mod guard;
mod in_flight;
mod kept;
mod legacy;
mod refused;
mod respond;
mod route;
mod sessions;
mod source;
mod stream;

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::request::Parts;
use http::{Request, Response};
use mcp_core::store::EventStore;
use mcp_core::{Gate, Service};

use crate::Shutdown;
use config::Config;
use endpoint::Endpoint;
use kept::Events;
use source::Source;

#[cfg(feature = "serve")]
pub(crate) use body::discard;
pub use future::ResponseFuture;
pub use respond::Body;
pub use sessions::{AnswerMode, SessionEnd, SessionEvent, Sessions};

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
/// fn endpoint(service: impl Service) -> StreamableHttp {
///     StreamableHttp::new(service)
///         .allowed_hosts(["mcp.example.com"])
///         .allowed_origins(["https://app.example.com"])
///         .body_limit(1 << 20)
/// }
/// ```
///
/// Headers: those of `Mcp-Param-*` and all others reach handlers as `http::request::Parts` in the
/// exchange's extensions, beside what layers of the web server have inserted into the request's.
#[derive(Clone)]
pub struct StreamableHttp(Arc<Endpoint>);

impl fmt::Debug for StreamableHttp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamableHttp")
            .field("config", &self.0.config)
            .finish_non_exhaustive()
    }
}

impl StreamableHttp {
    /// An endpoint for `service`.
    pub fn new(service: impl Service) -> Self {
        Self::from(Source::One(Arc::new(service)))
    }

    /// An endpoint with a service for every request, such as one per tenant: `make` sees the
    /// head of the request and what layers have put into its extensions. A session keeps the
    /// service that was made for its `initialize`.
    ///
    /// It is called for every request, before that is looked at: let it look a server up, and
    /// hand out clones of an `Arc`.
    #[must_use]
    pub fn per_request<S: Service>(make: impl Fn(&Parts) -> S + Send + Sync + 'static) -> Self {
        Self::from(Source::PerRequest(Arc::new(move |head| {
            Arc::new(make(head))
        })))
    }

    fn from(source: Source) -> Self {
        Self(Arc::new(source.into()))
    }

    /// Answers a request whose body a framework has read already.
    pub async fn handle(&self, parts: Parts, body: Bytes) -> Response<Body> {
        let request = Request::from_parts(parts, Body::from(body));
        let Ok(response) = tower_service::Service::call(&mut self.clone(), request).await;
        response
    }

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

    /// How clients of the revisions with sessions are served (up to 2025-11-25):
    /// [`Sessions::in_memory`] by default.
    #[must_use]
    pub fn sessions(mut self, sessions: Sessions) -> Self {
        self.config().sessions = sessions;
        self
    }

    /// Makes the ids of sessions, instead of random UUIDs. An id is a secret: whoever knows it can
    /// use the session, unless a [`Principal`](mcp_core::Principal) guards it. It has 1 to 1024
    /// visible ASCII characters, else `initialize` is answered with an error.
    // spec: SESS-02, SESS-03
    #[must_use]
    pub fn session_id(mut self, make: impl Fn(&Parts) -> String + Send + Sync + 'static) -> Self {
        self.config().hooks.id = Some(Arc::new(make));
        self
    }

    /// Tells `hook` when sessions open and close. It runs where that happens, so it must not
    /// block.
    #[must_use]
    pub fn on_session(mut self, hook: impl Fn(SessionEvent<'_>) + Send + Sync + 'static) -> Self {
        self.config().hooks.event = Some(Arc::new(hook));
        self
    }

    /// Keeps the events of sessions in `store`, so that a client whose connection breaks gets what
    /// it has missed. By default none are kept.
    ///
    /// In the memory of this process: [`MemoryEventStore`](mcp_core::store::MemoryEventStore).
    // spec: RSM-01
    #[must_use]
    pub fn events(mut self, store: impl EventStore) -> Self {
        self.config().events = Some(Arc::new(Events::new(store)));
        self
    }

    /// How long a client is told to wait before it reads a kept stream on, 1 s by default.
    // spec: RSM-06
    #[must_use]
    pub fn reconnect_after(mut self, time: Duration) -> Self {
        self.config().streams.retry = time;
        self
    }

    /// How many sessions are open.
    pub fn session_count(&self) -> usize {
        self.0.table.len()
    }

    /// Ends all sessions: their calls are stopped, their streams end.
    pub fn close_all(&self) {
        self.0.table.end_all();
    }

    /// Asks `gate` about every call before it is begun. A [`Principal`](mcp_core::Principal) that
    /// a layer has put into the request's extensions is shown to it.
    #[must_use]
    pub fn gate(mut self, gate: impl Gate) -> Self {
        self.config().gate = Some(Arc::new(gate));
        self
    }

    /// Ends streams when `shutdown` says so. [`Serve`](crate::Serve) brings its own, through routers
    /// and layers, but not into tasks that a layer spawns: give it here for those.
    #[must_use]
    pub fn shutdown_with(mut self, shutdown: Shutdown) -> Self {
        self.config().shutdown = Some(shutdown);
        self
    }

    fn config(&mut self) -> &mut Config {
        Arc::make_mut(&mut Arc::make_mut(&mut self.0).config)
    }
}

impl<B: http_body::Body> tower_service::Service<Request<B>> for StreamableHttp {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = ResponseFuture<B>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> ResponseFuture<B> {
        let (parts, body) = request.into_parts();
        ResponseFuture::new(Arc::clone(&self.0), Box::new(parts), body)
    }
}

#[cfg(test)]
mod tests;

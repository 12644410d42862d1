//! The endpoint as a tower service.
//!
//! | layer | module | contents |
//! |---|---|---|
//! | 1 | `source` | the service for a request |
//! | 2 | `endpoint` | state of an endpoint |
//! | 3 | `handle` | one request from head to response |

mod endpoint;
mod handle;
mod source;

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use http::request::Parts;
use http::{Request, Response};
use mcp_core::deadline::finite;
use mcp_core::store::EventStore;
use mcp_core::{BoxFuture, EndpointMetrics, Gate, ServerIdentity, Service, catch_panic};

use super::config::{Config, SessionEvent, Sessions};
use super::response::Body;
use crate::shutdown::Shutdown;
use endpoint::EndpointState;
use handle::{handle, panicked};
use source::ServiceSource;

/// An MCP endpoint: a tower service for hyper, axum and every other tower-based web server.
///
/// All clones share one endpoint. `poll_ready` always returns ready. By default the endpoint serves only
/// this machine: the `Host` header of a request must name this machine, and so must its `Origin` header,
/// if it has one. The client must be on this machine, too, if its address is known: [`Serve`](crate::Serve)
/// knows it, and other web servers can pass it in a [`PeerAddr`](crate::PeerAddr). See [`allowed_hosts`](Self::allowed_hosts) and [`allowed_origins`](Self::allowed_origins).
///
/// A call that ends without notifications is answered with JSON. A call that sends notifications, or
/// takes longer than [`commit_after`](Self::commit_after), is answered with an event stream. When a
/// modern client disconnects, its call is cancelled: dropping the response's future drops that of the service.
///
/// [`Extensions::parts`](mcp_core::Extensions::parts) gives handlers the HTTP request's head: its
/// headers, and its extensions with the values that layers of the web server have inserted.
///
/// # Examples
///
/// ```
/// use mcp::StreamableHttp;
/// use mcp::core::Service;
///
/// fn endpoint(service: impl Service) -> StreamableHttp {
///     StreamableHttp::new(service)
///         .allowed_hosts(["mcp.example.com"])
///         .allowed_origins(["https://app.example.com"])
///         .body_limit(1 << 20)
/// }
/// ```
///
/// Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http>
#[derive(Clone)]
pub struct StreamableHttp {
    state: Arc<EndpointState>,
}

impl fmt::Debug for StreamableHttp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamableHttp")
            .field("config", &self.state.config)
            .finish_non_exhaustive()
    }
}

impl StreamableHttp {
    /// Creates an endpoint for `service`.
    pub fn new(service: impl Service) -> Self {
        Self::from_source(ServiceSource::Shared(Arc::new(service)))
    }

    /// Creates an endpoint that chooses a service for each request, for example one per tenant.
    /// `make` receives the head of the request with the extensions of all layers. A session keeps the
    /// service that was chosen for its `initialize` request, and is found only at the path of that request.
    /// If something else than the path chooses the service, such as a header, or if a router removes the
    /// tenant from the path, set a [`session_key`](Self::session_key).
    ///
    /// `make` is called for each request before any check of its body. It should be fast, for example
    /// by looking up a server and returning a clone of its `Arc`. A request for which it panics is
    /// answered with the status 500.
    #[must_use]
    pub fn per_request<S: Service>(make: impl Fn(&Parts) -> S + Send + Sync + 'static) -> Self {
        let make = move |head: &Parts| Arc::new(make(head)) as Arc<dyn Service>;
        let identity = ServerIdentity::unique();
        Self::from_source(ServiceSource::PerRequest(Arc::new(make), identity))
    }

    fn from_source(services: ServiceSource) -> Self {
        Self {
            state: Arc::new(EndpointState::new(services)),
        }
    }

    /// Responds to a request whose body has already been read, for example by a web framework.
    pub async fn handle(&self, parts: Parts, body: Bytes) -> Response<Body> {
        let Ok(response) = self.respond(parts, Body::from(body)).await;
        response
    }

    /// Sets this server's host names. Default: `localhost`, `127.0.0.1` and `[::1]`.
    ///
    /// `"mcp.example.com"` matches any port, `"mcp.example.com:8443"` only this port, and `"*"` any host.
    ///
    /// Requests with another `Host` are rejected with the status 403. This prevents DNS rebinding: an
    /// attack in which a web page accesses a server that only the local machine should access.
    ///
    /// This check does not authenticate clients: every program can send every `Host`. With the default,
    /// requests of other machines are therefore rejected as well, if their address is known. Calling
    /// this method, with any names, permits them: use it for servers that other machines should reach, and
    /// for a container whose port is published to its host.
    // spec: HTTP-S-04
    #[must_use]
    pub fn allowed_hosts<I: IntoIterator<Item: AsRef<str>>>(mut self, hosts: I) -> Self {
        self.config().guard.allow_hosts(hosts);
        self
    }

    /// Sets the origins of web pages that may call this server, such as `"https://app.example.com"`, or
    /// `"*"` for any origin. Default: this machine's origins. Requests without an `Origin` do not
    /// come from a web page and are accepted.
    ///
    /// This setting only rejects requests. A browser also requires CORS headers before it lets a web page
    /// call the server. Set them with a layer around this service
    /// ([guide](https://docs.rs/omnimcp/latest/mcp/guide/http/index.html#web-pages-of-another-origin)).
    ///
    /// An entry that can match nothing, such as `"https://*.example.com"`, is a warning in the log.
    #[must_use]
    pub fn allowed_origins<I: IntoIterator<Item: AsRef<str>>>(mut self, origins: I) -> Self {
        self.config().guard.allow_origins(origins);
        self
    }

    /// Sets the maximum size of a request body in bytes, 4 MiB by default. Larger bodies are
    /// rejected with the status 413.
    ///
    /// All bodies that the endpoint receives at one moment may together have 64 times this size, 256 MiB by
    /// default. A body beyond that is rejected with the status 503 and `Retry-After`; a body that arrives
    /// in one piece, as most do, always has its place. A body of more than 65,536 parts with fewer than 64
    /// bytes on average is rejected with the status 400.
    #[must_use]
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.config().guard.body_limit = bytes;
        self
    }

    /// Sets the maximum time to receive a request body, 30 s by default. Slower requests
    /// are rejected with the status 408.
    #[must_use]
    pub fn body_timeout(mut self, time: Duration) -> Self {
        self.config().body_timeout = time;
        self
    }

    /// Sets the time without output after which the response to a call becomes an event stream, 1 s
    /// by default. An event stream can send keep-alive comments, but its status is always 200.
    #[must_use]
    pub fn commit_after(mut self, time: Duration) -> Self {
        self.config().streams.commit_after = time;
        self
    }

    /// Sets the time without output after which the server sends a keep-alive comment on an event stream,
    /// 15 s by default.
    #[must_use]
    pub fn ping_interval(mut self, time: Duration) -> Self {
        self.config().streams.keep_alive_interval = time;
        self
    }

    /// Sets the maximum age of an event stream, unlimited by default. The call of an older stream is
    /// cancelled and answered with an error.
    #[must_use]
    pub fn max_stream_age(mut self, time: Duration) -> Self {
        self.config().streams.max_age = Some(time);
        self
    }

    /// Sets the support for clients of the revisions with sessions (up to 2025-11-25),
    /// [`Sessions::in_memory`] by default.
    #[must_use]
    pub fn sessions(mut self, sessions: Sessions) -> Self {
        self.config().sessions = sessions;
        self
    }

    /// Sets the function that creates session ids, random UUIDs by default. A session id is a secret:
    /// a client that knows it can use the session, unless a [`Principal`](mcp_core::Principal)
    /// protects it.
    ///
    /// An id must have 1 to 1024 visible ASCII characters. Otherwise `initialize` is answered with an
    /// error.
    // spec: SESS-02
    #[must_use]
    pub fn session_id(mut self, make: impl Fn(&Parts) -> String + Send + Sync + 'static) -> Self {
        self.config().session_id = Some(Arc::new(make));
        self
    }

    /// Sets the function that returns the key of a request. A session exists only for requests with the key of
    /// its `initialize`, and for its [`Principal`](mcp_core::Principal); others get the status 404. Default:
    /// the path as it reaches this endpoint, without slashes at its end.
    ///
    /// Set a key where something else than the path separates the callers: the tenant of a header, or the
    /// part of the path that a router has removed. The key is stored with the session, so it should not be a
    /// secret. It may have 1024 bytes; with a longer one, `initialize` is answered with an error.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::prelude::*;
    ///
    /// let endpoint = StreamableHttp::new(Server::new("clock", "1.0.0")).session_key(|parts| {
    ///     let tenant = parts.headers.get("x-tenant").and_then(|value| value.to_str().ok());
    ///     tenant.unwrap_or_default().to_owned()
    /// });
    /// # let _ = endpoint;
    /// ```
    // spec: SESS-11
    #[must_use]
    pub fn session_key(mut self, key: impl Fn(&Parts) -> String + Send + Sync + 'static) -> Self {
        self.config().session_key = Some(Arc::new(key));
        self
    }

    /// Sets a hook that is called when a session is opened, continued or closed. It runs in the task that
    /// causes the event, so it must not block. A hook panic is logged and has no other effect.
    #[must_use]
    pub fn on_session(mut self, hook: impl Fn(SessionEvent<'_>) + Send + Sync + 'static) -> Self {
        self.config().session_hook = Some(Arc::new(hook));
        self
    }

    /// Stores the session events in `store`, so that a client whose connection broke receives the
    /// events that it missed. By default events are not stored.
    ///
    /// [`MemoryEventStore`](mcp_core::store::MemoryEventStore) keeps them in this process's
    /// memory.
    // spec: RSM-01
    #[must_use]
    pub fn events(mut self, store: impl EventStore) -> Self {
        self.config().set_event_store(Arc::new(store));
        self
    }

    /// Sets the longest time for one operation of the session store ([`Sessions::shared`]) or the
    /// event store ([`events`](Self::events)), 5 s by default.
    ///
    /// An operation that takes longer counts as failed: a request that needs the session store is
    /// answered with the status 503, and events that cannot be stored are sent without an id.
    #[must_use]
    pub fn store_timeout(mut self, time: Duration) -> Self {
        self.config().set_store_timeout(time);
        self
    }

    /// Sets the time that clients wait before they reconnect to a stored stream, 1 s by default.
    // spec: RSM-06
    #[must_use]
    pub fn reconnect_after(mut self, time: Duration) -> Self {
        self.config().streams.retry = finite(time);
        self
    }

    /// Returns the number of open sessions.
    #[cfg(test)]
    pub(crate) fn session_count(&self) -> usize {
        self.state.sessions.len()
    }

    /// Returns what this endpoint holds and has refused at this moment, for metrics and health checks.
    /// All clones of an endpoint return the same.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::StreamableHttp;
    /// use mcp::prelude::*;
    ///
    /// let endpoint = StreamableHttp::new(Server::new("clock", "1.0.0"));
    /// assert_eq!(endpoint.metrics().streams, 0);
    /// ```
    pub fn metrics(&self) -> EndpointMetrics {
        let counters = &self.state.config.streams.counters;
        let mut metrics = EndpointMetrics::default();
        metrics.sessions = self.state.sessions.len() as u64;
        metrics.streams = Arc::strong_count(&counters.streams) as u64 - 1;
        metrics.subscriptions = Arc::strong_count(&counters.subscriptions) as u64 - 1;
        metrics.queued_bytes = counters.queued.load(Ordering::Relaxed);
        metrics.refused = counters.refused();
        metrics
    }

    /// Ends all sessions: their calls are stopped, and their streams end.
    pub fn close_all(&self) {
        self.state.close_all();
    }

    /// Sets a gate that permits or refuses each call before it starts. The gate receives the
    /// [`Principal`](mcp_core::Principal) that a layer has inserted into the request's
    /// extensions.
    #[must_use]
    pub fn gate(mut self, gate: impl Gate) -> Self {
        self.config().gate = Some(Arc::new(gate));
        self
    }

    /// Sets the handle that ends the event streams when the server shuts down. [`Serve`](crate::Serve)
    /// passes its own handle to the endpoint, also through routers and layers. Use this setting with other
    /// web servers, and with layers that spawn tasks.
    #[must_use]
    pub fn shutdown_with(mut self, shutdown: Shutdown) -> Self {
        self.config().set_shutdown(shutdown);
        self
    }

    /// Returns true when only clients on this machine are served, because
    /// [`allowed_hosts`](Self::allowed_hosts) was not called.
    #[cfg(feature = "serve")]
    pub(crate) fn is_local_only(&self) -> bool {
        self.state.config.guard.is_local_only
    }

    /// Returns the service of all requests, or `None` when each request has its own.
    #[cfg(feature = "serve")]
    pub(crate) fn shared_service(&self) -> Option<&Arc<dyn Service>> {
        self.state.services.shared()
    }

    /// Responds to a request. A panic of user code would otherwise end the connection with all requests on it.
    fn respond<B>(
        &self,
        head: Parts,
        body: B,
    ) -> BoxFuture<'static, Result<Response<Body>, Infallible>>
    where
        B: http_body::Body + Send + 'static,
    {
        let handled = catch_panic(handle(Arc::clone(&self.state), Box::new(head), body));
        Box::pin(handled.map(|response| Ok(response.unwrap_or_else(|panic| panicked(&panic)))))
    }

    fn config(&mut self) -> &mut Config {
        Arc::make_mut(&mut Arc::make_mut(&mut self.state).config)
    }
}

impl<B> tower_service::Service<Request<B>> for StreamableHttp
where
    B: http_body::Body + Send + 'static,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (head, body) = request.into_parts();
        self.respond(head, body)
    }
}

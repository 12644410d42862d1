//! The MCP endpoint as a tower service.

mod answer;
mod body;
mod call;
mod config;
mod guard;
mod in_flight;
mod legacy;
mod respond;
mod route;
mod sessions;
mod source;
mod stream;

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use mcp_core::store::EventStore;
use mcp_core::front::Recipient;
use mcp_core::wire::MODERN;
use mcp_core::{Gate, ServerProfile, Service};

use crate::Shutdown;
use crate::headers::names;
use answer::Manner;
use body::BodyError;
use config::Config;
use guard::{Head, Refusal};
use legacy::{Door, Events, Table};
use route::Route;
use sessions::Mode;
use source::{LegacyFilter, ModernOnly, Source};

pub(crate) use body::discard;
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
    source: Source<S>,
    config: Arc<Config>,
    table: Arc<Table>,
    filter: Arc<LegacyFilter>,
}

impl<S> Clone for StreamableHttp<S> {
    fn clone(&self) -> Self {
        Self {
            source: self.source.clone(),
            config: Arc::clone(&self.config),
            table: Arc::clone(&self.table),
            filter: Arc::clone(&self.filter),
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
        Self::from(Source::One(Arc::new(service)))
    }

    /// An endpoint with a service for every request, such as one per tenant: `make` sees the
    /// head of the request and what layers have put into its extensions. A session keeps the
    /// service that was made for its `initialize`.
    ///
    /// It is called for every request, before that is looked at: let it look a server up, and
    /// hand out clones of an `Arc`.
    #[must_use]
    pub fn per_request(make: impl Fn(&Parts) -> S + Send + Sync + 'static) -> Self {
        Self::from(Source::PerRequest(Arc::new(make)))
    }

    fn from(source: Source<S>) -> Self {
        Self {
            source,
            config: Arc::default(),
            table: Arc::default(),
            filter: Arc::default(),
        }
    }

    /// Answers a request whose body a framework has read already.
    pub async fn handle(&self, parts: Parts, body: Bytes) -> Response<Body> {
        let head = Head {
            method: &parts.method,
            uri: &parts.uri,
            headers: &parts.headers,
        };
        if let Some(verb) = self.session_verb(&parts.method) {
            return match self.config.guard.check_origins(head) {
                Ok(()) => self.tend(verb, parts).await,
                Err(refusal) => respond::refusal(refusal),
            };
        }
        let checked = if self.is_one_way(&parts) {
            self.config.guard.check_message(head)
        } else {
            self.config.guard.check(head)
        };
        match checked {
            Ok(_) if body.len() > self.config.guard.body_limit => {
                respond::refusal(guard::too_large(self.config.guard.body_limit))
            }
            Ok(_) => self.post(parts, body).await,
            Err(refusal) => {
                let refusal = self.name_verbs(refusal, &parts);
                respond::refusal(refusal)
            }
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
        self.config().events = Some(Events::new(Arc::new(store)));
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
        self.table.len()
    }

    /// Ends all sessions: their calls are stopped, their streams end.
    pub fn close_all(&self) {
        self.table.end_all();
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
    pub fn shutdown_with(mut self, shutdown: Shutdown) -> Self {
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
        let (parts, body) = request.into_parts();
        ResponseFuture(Box::pin(respond(self.clone(), parts, body)))
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

/// The way of a request: its head, its body, its route.
async fn respond<S, B>(endpoint: StreamableHttp<S>, parts: Parts, body: B) -> Response<Body>
where
    S: Service,
    B: http_body::Body,
{
    let config = &endpoint.config;
    let mut body = pin!(body);
    let head = Head {
        method: &parts.method,
        uri: &parts.uri,
        headers: &parts.headers,
    };
    if let Some(verb) = endpoint.session_verb(&parts.method) {
        return match config.guard.check_origins(head) {
            Ok(()) => endpoint.tend(verb, parts).await,
            Err(refusal) => turn_away(body, &parts.headers, config, refusal).await,
        };
    }
    let checked = if endpoint.is_one_way(&parts) {
        config.guard.check_message(head)
    } else {
        config.guard.check(head)
    };
    let admitted = match checked {
        Ok(admitted) => admitted,
        Err(refusal) => {
            let refusal = endpoint.name_verbs(refusal, &parts);
            return turn_away(body, &parts.headers, config, refusal).await;
        }
    };
    let limits = config.body_limits();
    match body::read(body.as_mut(), admitted.content_length, limits).await {
        Ok(text) => endpoint.post(parts, text).await,
        Err(error) => turn_away(body, &parts.headers, config, unread(&error, limits)).await,
    }
}

/// What else than POST is served, for the sake of sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SessionVerb {
    Get,
    Delete,
}

impl<S: Service> StreamableHttp<S> {
    /// Answers a POST that was read.
    async fn post(&self, parts: Parts, text: Bytes) -> Response<Body> {
        let service = self.source.service(&parts);
        if self.is_one_way(&parts) {
            return self.door(service).post_one_way(parts, &text);
        }
        let profile = service.profile();
        if self.config.sessions.mode == Mode::Off && profile.has_legacy_versions() {
            let profile = self.filter.apply(&profile);
            let service = Arc::new(ModernOnly { service, profile });
            let profile = service.profile();
            return self.serve(service, profile, parts, text).await;
        }
        self.serve(service, profile, parts, text).await
    }

    async fn serve<T: Service>(
        &self,
        service: Arc<T>,
        profile: Arc<ServerProfile>,
        parts: Parts,
        text: Bytes,
    ) -> Response<Body> {
        let serves_legacy = self.serves_legacy(&profile);
        let route = route::route(&parts.headers, &text, &profile, serves_legacy, |tool| {
            service.header_plan(tool)
        });
        let (id, inbound) = match route {
            Route::Modern { id, inbound } => (id, inbound),
            // Boxed, so that their futures make no other one larger.
            Route::Legacy(message) => {
                let door = self.door(service);
                return Box::pin(door.post(parts, message)).await;
            }
            Route::Batch => {
                let door = self.door(service);
                return Box::pin(door.post_batch(parts, &text)).await;
            }
            Route::Accepted => return respond::accepted(),
            Route::Refused { id, fault } => return respond::fault(MODERN, id.as_ref(), &fault),
        };
        // Handlers may take long; what was read into `inbound` needs the text no more.
        drop(text);
        let to = Recipient {
            id,
            profile,
            wire: MODERN,
        };
        let manner = Manner::alone(AnswerMode::Auto);
        answer::answer(&*service, &self.config, to, inbound, parts, manner).await
    }

    /// Answers another verb.
    async fn tend(&self, verb: SessionVerb, parts: Parts) -> Response<Body> {
        let service = self.source.service(&parts);
        if !self.serves_legacy(&service.profile()) {
            return respond::refusal(guard::not_served(&parts.method));
        }
        let door = self.door(service);
        match verb {
            SessionVerb::Get => match guard::check_accepts_events(&parts.headers) {
                Ok(()) => Box::pin(door.get(parts)).await,
                Err(refusal) => respond::refusal(refusal),
            },
            SessionVerb::Delete => Box::pin(door.delete(&parts)).await,
        }
    }

    fn door(&self, service: Arc<dyn Service>) -> Door {
        Door {
            table: Arc::clone(&self.table),
            config: Arc::clone(&self.config),
            service,
        }
    }

    // spec: COMPAT-01
    fn serves_legacy(&self, profile: &ServerProfile) -> bool {
        self.config.sessions.mode != Mode::Off && profile.has_legacy_versions()
    }

    /// The POST belongs to a connection of HTTP+SSE, on which its answer goes out.
    fn is_one_way(&self, parts: &Parts) -> bool {
        self.config.sessions.serves_http_sse && legacy::named_connection(parts).is_some()
    }

    fn session_verb(&self, method: &Method) -> Option<SessionVerb> {
        match *method {
            _ if self.config.sessions.mode != Mode::InMemory => None,
            Method::GET => Some(SessionVerb::Get),
            Method::DELETE => Some(SessionVerb::Delete),
            _ => None,
        }
    }

    /// Tells the verbs that are served.
    fn name_verbs(&self, mut refusal: Refusal, parts: &Parts) -> Refusal {
        if refusal.allow.is_some()
            && self.config.sessions.mode == Mode::InMemory
            && self.serves_legacy(&self.source.service(parts).profile())
        {
            refusal.allow = Some(names::ALLOW_ALL);
        }
        refusal
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

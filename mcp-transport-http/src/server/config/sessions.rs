//! Settings for clients of the revisions with sessions (up to 2025-11-25).

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_core::Transport;
use mcp_core::deadline::finite;
use mcp_core::legacy::SessionLimits;
use mcp_core::store::{SessionRelay, SessionStore};
use tokio::time::Instant;
use uuid::Uuid;

/// Settings for clients of the revisions with sessions (up to 2025-11-25). They do not affect
/// clients of 2026-07-28, which have no sessions.
///
/// | | [`in_memory`](Self::in_memory) (default) | [`stateless`](Self::stateless) | [`off`](Self::off) |
/// |---|---|---|---|
/// | `initialize` | opens a session | is answered without a session | is refused (-32022) |
/// | requests from handlers to the client | yes | no | no |
/// | notifications about changes | yes, on the GET stream | no | no |
/// | GET and DELETE | yes | 405 | 405 |
/// | requests may reach any instance of the server | only with a store | yes | yes |
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use mcp::{AnswerMode, Sessions};
///
/// let sessions = Sessions::in_memory()
///     .idle_timeout(Duration::from_secs(600))
///     .max(1_000)
///     .answer(AnswerMode::AlwaysSse);
/// ```
///
/// Spec: <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management>
#[derive(Clone)]
pub struct Sessions {
    pub(in crate::server) mode: SessionMode,
    pub(in crate::server) idle_timeout: Duration,
    pub(in crate::server) init_timeout: Duration,
    pub(in crate::server) max: usize,
    pub(in crate::server) max_per_principal: usize,
    pub(in crate::server) max_per_address: usize,
    pub(in crate::server) max_calls: usize,
    pub(in crate::server) answer: AnswerMode,
    pub(in crate::server) http_sse: bool,
    /// Prefix of the path that HTTP+SSE clients send their messages to.
    pub(in crate::server) http_sse_prefix: Arc<str>,
    pub(in crate::server) limits: SessionLimits,
    pub(in crate::server) store: Option<Arc<dyn SessionStore>>,
    pub(in crate::server) relay: Option<Arc<dyn SessionRelay>>,
}

/// Position of the server number in the ids of its requests to clients.
pub(in crate::server) const NODE_SHIFT: u32 = 32;

/// Support for legacy clients at an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) enum SessionMode {
    InMemory,
    Stateless,
    Off,
}

/// Form of the responses to calls in a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnswerMode {
    /// JSON for a call that ends soon and without notifications, an event stream for all others.
    #[default]
    Auto,
    /// Always an event stream.
    AlwaysSse,
    /// Always JSON, however long the call takes. Handlers cannot send requests to the
    /// client, and notifications about progress and log messages are discarded.
    AlwaysJson,
}

impl Sessions {
    /// Keeps sessions in this process's memory.
    #[must_use]
    pub fn in_memory() -> Self {
        Self {
            mode: SessionMode::InMemory,
            idle_timeout: Duration::from_secs(30 * 60),
            init_timeout: Duration::from_secs(60),
            max: 10_000,
            max_per_principal: 1_000,
            max_per_address: 1_000,
            max_calls: 256,
            answer: AnswerMode::Auto,
            http_sse: false,
            http_sse_prefix: Arc::default(),
            limits: SessionLimits::new(now, Some(Transport::Http)),
            store: None,
            relay: None,
        }
    }

    /// Keeps sessions in `store` as well, so that another server with the same store, or this server after
    /// a restart, can continue them. Each request of a session loads it from the store.
    ///
    /// Running calls and pending requests of handlers are not saved: they end with their server. If the
    /// store has a [relay](SessionStore::relay), as those of Redis have, responses and cancellations reach
    /// them from every server. Otherwise a response that reaches another server is rejected there.
    ///
    /// A session that one server has ended stays ended at all of them. When the store fails, session
    /// requests are answered with the status 503, and the error is in the log only. See
    /// [`StreamableHttp::store_timeout`](super::super::StreamableHttp::store_timeout) for a store that
    /// hangs.
    #[must_use]
    pub fn shared(store: impl SessionStore) -> Self {
        let mut sessions = Self::in_memory();
        // Servers with the same store use ranges of request ids that do not overlap.
        let relay = store.relay();
        let node = match &relay {
            Some(relay) => relay.node(),
            None => Uuid::new_v4().as_fields().0 >> 12,
        };
        sessions.limits.request_ids_after = i64::from(node) << NODE_SHIFT;
        sessions.relay = relay;
        sessions.store = Some(Arc::new(store));
        sessions
    }

    /// Serves legacy clients without sessions: each request is independent of all others.
    #[must_use]
    pub fn stateless() -> Self {
        Self {
            mode: SessionMode::Stateless,
            ..Self::in_memory()
        }
    }

    /// Does not serve legacy clients.
    #[must_use]
    pub fn off() -> Self {
        Self {
            mode: SessionMode::Off,
            ..Self::in_memory()
        }
    }

    /// Sets the time after which an idle session ends, 30 minutes by default. A session with a
    /// running call or an open stream is not idle.
    // spec: SESS-13
    #[must_use]
    pub fn idle_timeout(mut self, time: Duration) -> Self {
        self.idle_timeout = time;
        self
    }

    /// Sets the time in which a client must complete the handshake (`notifications/initialized`) or send a
    /// first request, one minute by default. Afterwards the session ends when it is idle
    /// ([`idle_timeout`](Self::idle_timeout)).
    // spec: SESS-13
    #[must_use]
    pub fn init_timeout(mut self, time: Duration) -> Self {
        self.init_timeout = time;
        self
    }

    /// Sets the maximum number of sessions, 10,000 by default. At the limit, a new session replaces
    /// the oldest session whose client neither completed the handshake nor sent a request, or else the
    /// session without a [`Principal`](mcp_core::Principal), a running call or an open stream that is idle
    /// for the longest time ([`SessionEnd::Evicted`](super::SessionEnd::Evicted)). When there is
    /// none, further clients get the status 503 with `Retry-After`.
    // spec: SESS-13
    #[must_use]
    pub fn max(mut self, sessions: usize) -> Self {
        self.max = sessions;
        self
    }

    /// Sets the maximum number of sessions per [`Principal`](mcp_core::Principal), 1,000 by default.
    /// Further clients of a principal get the status 503 with `Retry-After`.
    #[must_use]
    pub fn max_per_principal(mut self, sessions: usize) -> Self {
        self.max_per_principal = sessions;
        self
    }

    /// Sets the maximum number of sessions without a [`Principal`](mcp_core::Principal) per client
    /// address, 1,000 by default. At the limit, a new session replaces another one with the same
    /// address, as with [`max`](Self::max).
    ///
    /// IPv6 addresses with the same first 64 bits count as one. Loopback addresses have no limit,
    /// because most of them belong to a reverse proxy. Behind a proxy on another machine, insert a
    /// [`PeerAddr`](crate::PeerAddr) into each request, or raise this limit.
    // spec: SESS-13
    #[must_use]
    pub fn max_per_address(mut self, sessions: usize) -> Self {
        self.max_per_address = sessions;
        self
    }

    /// Sets the maximum number of running calls per session, 256 by default.
    #[must_use]
    pub fn max_calls(mut self, calls: usize) -> Self {
        self.max_calls = calls;
        self
    }

    /// Sets the form of responses, [`AnswerMode::Auto`] by default.
    #[must_use]
    pub fn answer(mut self, mode: AnswerMode) -> Self {
        self.answer = mode;
        self
    }

    /// Enables HTTP+SSE, the deprecated transport of 2024-11-05, at the same path. Off by default.
    ///
    /// A GET without a session id opens a connection, which carries the whole session. The events
    /// of such a session are not stored, and other servers cannot continue it. Enable it only for
    /// clients that support no other transport.
    ///
    /// Spec: <https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse>
    // spec: SSE-06
    #[must_use]
    pub fn http_sse(mut self) -> Self {
        self.http_sse = true;
        self
    }

    /// Sets the part of the path that a reverse proxy or a router has removed before the request
    /// reaches this endpoint, for example `"/tools"` when the proxy sends `/tools/mcp` here as `/mcp`,
    /// or `"/mcp"` behind `nest_service("/mcp", …)` of axum. Empty by default.
    ///
    /// HTTP+SSE tells clients the path for their messages: this prefix and the path of their GET.
    #[must_use]
    pub fn http_sse_prefix(mut self, prefix: impl Into<Arc<str>>) -> Self {
        self.http_sse_prefix = prefix.into();
        self
    }

    /// Sets the time that a handler waits for the client's response to its request (elicitation,
    /// sampling, roots), five minutes by default. Each progress notification of the client restarts
    /// it.
    // spec: LIFE-12
    #[must_use]
    pub fn ask_timeout(mut self, time: Duration) -> Self {
        self.limits.response_timeout = time;
        self
    }

    /// Returns the time after which the store is told again that a session is in use.
    pub(in crate::server) fn save_interval(&self) -> Duration {
        self.idle_timeout / 4
    }

    /// Returns the time for which the store keeps a session: longer than the memory does.
    pub(in crate::server) fn store_lifetime(&self) -> Duration {
        // Few stores accept the largest durations.
        finite(self.idle_timeout.saturating_mul(2))
    }
}

/// Clock of tokio, which tests can pause and advance.
fn now() -> std::time::Instant {
    Instant::now().into_std()
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions")
            .field("mode", &self.mode)
            .field("idle_timeout", &self.idle_timeout)
            .field("init_timeout", &self.init_timeout)
            .field("max", &self.max)
            .field("max_per_principal", &self.max_per_principal)
            .field("max_per_address", &self.max_per_address)
            .field("max_calls", &self.max_calls)
            .field("answer", &self.answer)
            .finish_non_exhaustive()
    }
}

//! How an endpoint serves clients of the revisions with sessions (up to 2025-11-25).

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::request::Parts;
use mcp_core::legacy::SessionLimits;
use mcp_core::store::SessionStore;
use tokio::time::Instant;
use uuid::Uuid;

use super::legacy::{HttpSse, Shared, Sharing};

/// How an endpoint serves clients of the revisions with sessions (up to 2025-11-25). Clients of
/// 2026-07-28 need none of it.
///
/// | | [`in_memory`](Self::in_memory) (default) | [`stateless`](Self::stateless) | [`off`](Self::off) |
/// |---|---|---|---|
/// | `initialize` | opens a session | is answered, and forgotten | is refused (-32022) |
/// | handlers ask the client | yes | no | no |
/// | the client hears of changes | yes, on its GET stream | no | no |
/// | GET and DELETE | yes | 405 | 405 |
/// | any instance can answer | no; with a store, yes | yes | yes |
///
/// ```
/// use std::time::Duration;
/// use mcp_transport_http::server::{AnswerMode, Sessions};
///
/// let sessions = Sessions::in_memory()
///     .idle_timeout(Duration::from_secs(600))
///     .max(1_000)
///     .answer(AnswerMode::AlwaysSse);
/// ```
#[derive(Clone)]
pub struct Sessions {
    pub(super) mode: Mode,
    pub(super) idle_timeout: Duration,
    pub(super) init_timeout: Duration,
    pub(super) max: usize,
    pub(super) max_per_principal: usize,
    pub(super) max_calls: usize,
    pub(super) answer: AnswerMode,
    pub(super) http_sse: Option<HttpSse>,
    pub(super) limits: SessionLimits,
    pub(super) store: Option<Arc<dyn Sharing>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    InMemory,
    Stateless,
    Off,
}

/// In which form the calls of a session are answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnswerMode {
    /// JSON for a call that ends soon and in silence, a stream of events for every other one.
    #[default]
    Auto,
    /// A stream of events, whatever the call does.
    AlwaysSse,
    /// JSON, however long it takes. Such a call has no way to its client: handlers cannot ask it
    /// anything, and progress and log messages are lost.
    AlwaysJson,
}

impl Sessions {
    /// Sessions in the memory of this process.
    #[must_use]
    pub fn in_memory() -> Self {
        let mut limits = SessionLimits::default();
        limits.clock = now;
        Self {
            mode: Mode::InMemory,
            idle_timeout: Duration::from_secs(30 * 60),
            init_timeout: Duration::from_secs(60),
            max: 10_000,
            max_per_principal: 1_000,
            max_calls: 256,
            answer: AnswerMode::Auto,
            http_sse: None,
            limits,
            store: None,
        }
    }

    /// No sessions: every request stands for itself, whichever instance of the server it comes
    /// to.
    #[must_use]
    pub fn stateless() -> Self {
        Self {
            mode: Mode::Stateless,
            ..Self::in_memory()
        }
    }

    /// No clients of the revisions with sessions at all.
    #[must_use]
    pub fn off() -> Self {
        Self {
            mode: Mode::Off,
            ..Self::in_memory()
        }
    }

    /// How long a session lives in which nothing happens, 30 minutes by default. A running call
    /// and an open stream are something.
    // spec: SESS-13
    #[must_use]
    pub fn idle_timeout(mut self, time: Duration) -> Self {
        self.idle_timeout = time;
        self
    }

    /// How long a session lives whose client never says that the handshake is done, one minute by
    /// default.
    // spec: SESS-13
    #[must_use]
    pub fn init_timeout(mut self, time: Duration) -> Self {
        self.init_timeout = time;
        self
    }

    /// How many sessions there may be, 10,000 by default. A client that would open another one is
    /// told to come back later (503).
    // spec: SESS-13
    #[must_use]
    pub fn max(mut self, sessions: usize) -> Self {
        self.max = sessions;
        self
    }

    /// How many sessions one [`Principal`](mcp_core::Principal) may have, 1,000 by default.
    /// Clients that nobody has verified are not counted by it.
    #[must_use]
    pub fn max_per_principal(mut self, sessions: usize) -> Self {
        self.max_per_principal = sessions;
        self
    }

    /// How many calls of one session may run at a time, 256 by default.
    #[must_use]
    pub fn max_calls(mut self, calls: usize) -> Self {
        self.max_calls = calls;
        self
    }

    /// In which form calls are answered.
    #[must_use]
    pub fn answer(mut self, mode: AnswerMode) -> Self {
        self.answer = mode;
        self
    }

    /// Serves HTTP+SSE as well, the transport of 2024-11-05, at the same path: off by default.
    /// A GET without a session opens a connection, which is the session; it has neither events
    /// that are kept nor a place in a store. The transport is deprecated: switch it on only for
    /// clients that know no other.
    // spec: SSE-06
    #[must_use]
    #[inline]
    pub fn http_sse(mut self) -> Self {
        self.http_sse = Some(HttpSse::ON);
        self
    }

    /// How long a handler's question waits for the answer of the client, or for the next sign of
    /// progress, five minutes by default.
    // spec: LIFE-12
    #[must_use]
    pub fn ask_timeout(mut self, time: Duration) -> Self {
        self.limits.response_timeout = time;
        self
    }

    /// Writes sessions down in `store`, so that another server with the same store, or this one
    /// after a restart, continues them. Every request of a session reads it.
    ///
    /// Running calls and open questions stay with the process that has them: an answer that comes
    /// to another one is refused there.
    #[must_use]
    pub fn store(mut self, store: impl SessionStore) -> Self {
        // Nodes with the same store ask under ids that are far from each other.
        let (random, ..) = Uuid::new_v4().as_fields();
        self.limits.request_ids_after = i64::from(random >> 12) << 32;
        self.store = Some(Arc::new(Shared::by(store)));
        self
    }
}

/// One clock for everything, so that it can be wound in tests.
fn now() -> std::time::Instant {
    Instant::now().into_std()
}

impl Sessions {
    /// How old what was written down may get while the session is in use.
    pub(super) fn save_pause(&self) -> Duration {
        self.idle_timeout / 4
    }
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions")
            .field("mode", &self.mode)
            .field("idle_timeout", &self.idle_timeout)
            .field("init_timeout", &self.init_timeout)
            .field("max", &self.max)
            .field("max_per_principal", &self.max_per_principal)
            .field("max_calls", &self.max_calls)
            .field("answer", &self.answer)
            .finish_non_exhaustive()
    }
}

/// Something has become of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionEvent<'a> {
    /// A client has opened it.
    Opened {
        /// Its id, which is a secret between client and server.
        id: &'a str,
    },
    /// A client has come with a session that another server has opened, or this one before it
    /// was restarted.
    Continued {
        /// Its id.
        id: &'a str,
    },
    /// It has ended.
    Closed {
        /// Its id.
        id: &'a str,
        /// Why.
        reason: SessionEnd,
    },
}

/// Why a session has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionEnd {
    /// Its client has ended it.
    Deleted,
    /// Nothing happened in it ([`Sessions::idle_timeout`]).
    Idle,
    /// Its client has not finished the handshake ([`Sessions::init_timeout`]).
    NeverReady,
    /// The connection of its client has ended, which was the session (HTTP+SSE).
    Disconnected,
    /// Another server with the same store has ended it.
    Elsewhere,
    /// The server has ended it.
    Closed,
}

/// For logs.
impl fmt::Display for SessionEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Deleted => "its client has ended it",
            Self::Idle => "nothing happened in it",
            Self::NeverReady => "its client has not finished the handshake",
            Self::Disconnected => "the connection of its client has ended",
            Self::Elsewhere => "another server has ended it",
            Self::Closed => "the server has ended it",
        })
    }
}

/// What else an endpoint does about sessions.
#[derive(Clone, Default)]
pub(super) struct Hooks {
    pub(super) id: Option<Arc<MakeId>>,
    pub(super) event: Option<Arc<Told>>,
}

type MakeId = dyn Fn(&Parts) -> String + Send + Sync;
type Told = dyn Fn(SessionEvent<'_>) + Send + Sync;

impl Hooks {
    pub(super) fn tell(&self, event: SessionEvent<'_>) {
        if let Some(hook) = &self.event {
            hook(event);
        }
    }
}

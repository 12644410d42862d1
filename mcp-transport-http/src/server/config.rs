//! Settings of an endpoint.

mod session_event;
mod sessions;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::request::Parts;
use mcp_core::Gate;
use mcp_core::store::EventStore;
use uuid::Uuid;

use super::guard::Guard;
use super::request_body::BodyLimits;
use crate::Shutdown;

pub use session_event::{SessionEnd, SessionEvent};
pub(super) use sessions::SessionMode;
pub use sessions::{AnswerMode, Sessions};

/// Settings of an endpoint.
#[derive(Clone)]
pub(super) struct Config {
    pub(super) guard: Guard,
    pub(super) body_timeout: Duration,
    pub(super) streams: StreamConfig,
    pub(super) sessions: Sessions,
    pub(super) session_id: Option<Arc<MakeSessionId>>,
    pub(super) session_hook: Option<Arc<SessionHook>>,
    pub(super) events: Option<EventStorage>,
    pub(super) gate: Option<Arc<dyn Gate>>,
    shutdown: Option<Shutdown>,
}

pub(super) type MakeSessionId = dyn Fn(&Parts) -> String + Send + Sync;
pub(super) type SessionHook = dyn Fn(SessionEvent<'_>) + Send + Sync;

/// Times of event streams.
#[derive(Clone, Copy, Debug)]
pub(super) struct StreamConfig {
    /// Time without output after which a response becomes an event stream.
    pub(super) commit_after: Duration,
    /// Time without output after which a stream gets a comment.
    pub(super) keep_alive_interval: Duration,
    /// Maximum age of a stream.
    pub(super) max_age: Option<Duration>,
    /// Time that clients wait before they reconnect.
    pub(super) retry: Duration,
}

/// Store for the events of sessions.
#[derive(Clone)]
pub(super) struct EventStorage {
    pub(super) store: Arc<dyn EventStore>,
    /// Prefix of stream names. Servers with the same store number their streams independently.
    pub(super) stream_prefix: Arc<str>,
}

const DEFAULT_BODY_LIMIT: usize = 4 << 20;

impl Default for Config {
    fn default() -> Self {
        Self {
            guard: Guard::new(DEFAULT_BODY_LIMIT),
            body_timeout: Duration::from_secs(30),
            streams: StreamConfig {
                commit_after: Duration::from_secs(1),
                keep_alive_interval: Duration::from_secs(15),
                max_age: None,
                retry: Duration::from_secs(1),
            },
            sessions: Sessions::in_memory(),
            session_id: None,
            session_hook: None,
            events: None,
            gate: None,
            shutdown: None,
        }
    }
}

impl Config {
    pub(super) fn set_shutdown(&mut self, shutdown: Shutdown) {
        self.shutdown = Some(shutdown);
    }

    /// Returns the handle that ends the streams of the current request: that of the
    /// [`Serve`](crate::Serve) that runs it, or the configured one.
    pub(super) fn shutdown(&self) -> Option<Shutdown> {
        Shutdown::current().or_else(|| self.shutdown.clone())
    }

    pub(super) fn body_limits(&self) -> BodyLimits {
        BodyLimits {
            size: self.guard.body_limit,
            time: self.body_timeout,
        }
    }

    /// Calls the hook for session events.
    pub(super) fn notify_session_hook(&self, event: SessionEvent<'_>) {
        if let Some(hook) = &self.session_hook {
            hook(event);
        }
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("guard", &self.guard)
            .field("body_timeout", &self.body_timeout)
            .field("streams", &self.streams)
            .field("sessions", &self.sessions)
            .finish_non_exhaustive()
    }
}

impl EventStorage {
    pub(super) fn new(store: impl EventStore) -> Self {
        let (prefix, ..) = Uuid::new_v4().as_fields();
        Self {
            store: Arc::new(store),
            stream_prefix: format!("{prefix:x}").into(),
        }
    }
}

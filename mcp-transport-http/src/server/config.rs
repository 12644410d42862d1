//! Settings of an endpoint.

mod session_event;
mod sessions;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::request::Parts;
use mcp_core::store::EventStore;
use mcp_core::{Gate, catch_panic_sync};
use tokio::sync::Semaphore;
use uuid::Uuid;

use super::counters::Counters;
use super::guard::Guard;
use super::request_body::BodyLimits;
use super::store_guard::{GuardedEvents, STORE_TIMEOUT};
use crate::{Shutdown, connection_scope};

pub use session_event::{SessionEnd, SessionEvent};
pub use sessions::{AnswerMode, Sessions};
pub(super) use sessions::{NODE_SHIFT, SessionMode};

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
    /// Maximum time that one operation of a store may take.
    pub(super) store_timeout: Duration,
    pub(super) gate: Option<Arc<dyn Gate>>,
    shutdown: Option<Shutdown>,
}

pub(super) type MakeSessionId = dyn Fn(&Parts) -> String + Send + Sync;
pub(super) type SessionHook = dyn Fn(SessionEvent<'_>) + Send + Sync;

/// Times and counters of event streams.
#[derive(Clone, Debug)]
pub(super) struct StreamConfig {
    /// Counters of the endpoint.
    pub(super) counters: Arc<Counters>,
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
    pub(super) store: Arc<GuardedEvents>,
    /// Prefix of stream names. Servers with the same store number their streams independently.
    pub(super) stream_prefix: Arc<str>,
    /// Permits of tasks that repeat a failed deletion.
    pub(super) retrying: Arc<Semaphore>,
}

const DEFAULT_BODY_LIMIT: usize = 4 << 20;
/// Number of an endpoint's tasks that repeat deletions of events at the same time.
const MAX_REPEATED_DELETIONS: usize = 64;

impl Default for Config {
    fn default() -> Self {
        Self {
            guard: Guard::new(DEFAULT_BODY_LIMIT),
            body_timeout: Duration::from_secs(30),
            streams: StreamConfig {
                counters: Arc::default(),
                commit_after: Duration::from_secs(1),
                keep_alive_interval: Duration::from_secs(15),
                max_age: None,
                retry: Duration::from_secs(1),
            },
            sessions: Sessions::in_memory(),
            session_id: None,
            session_hook: None,
            events: None,
            store_timeout: STORE_TIMEOUT,
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
        connection_scope::shutdown().or_else(|| self.shutdown.clone())
    }

    pub(super) fn body_limits(&self) -> BodyLimits {
        BodyLimits {
            size: self.guard.body_limit,
            time: self.body_timeout,
        }
    }

    /// Calls the hook for session events. A panic of the hook has no effect on the session, on its
    /// request, and on the task that ends sessions.
    pub(super) fn notify_session_hook(&self, event: SessionEvent<'_>) {
        if let Some(hook) = &self.session_hook
            && let Err(panic) = catch_panic_sync(|| hook(event))
        {
            tracing::error!(panic = panic.text(), "the hook for sessions panicked");
        }
    }

    /// Stores the events of sessions in `store`.
    pub(super) fn set_event_store(&mut self, store: Arc<dyn EventStore>) {
        self.events = Some(EventStorage::new(store, self.store_timeout));
    }

    pub(super) fn set_store_timeout(&mut self, timeout: Duration) {
        self.store_timeout = timeout;
        if let Some(events) = &mut self.events {
            events.store = Arc::new(GuardedEvents {
                timeout,
                ..GuardedEvents::clone(&events.store)
            });
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
    fn new(store: Arc<dyn EventStore>, timeout: Duration) -> Self {
        let (prefix, ..) = Uuid::new_v4().as_fields();
        Self {
            store: Arc::new(GuardedEvents { store, timeout }),
            stream_prefix: format!("{prefix:x}").into(),
            retrying: Arc::new(Semaphore::new(MAX_REPEATED_DELETIONS)),
        }
    }
}

//! Settings of an HTTP endpoint.
//!
//! | module | contents |
//! |---|---|
//! | `counters` | what an endpoint holds and has refused |
//! | `session_event` | events of sessions, for the program's hook |
//! | `sessions` | settings of the sessions |

mod counters;
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

use super::request::body::BodyLimits;
use super::request::guard::Guard;
use super::store_guard::{GuardedEvents, STORE_TIMEOUT};
use crate::{connection_scope, shutdown::Shutdown};
use counters::Counters;

pub use session_event::{SessionEnd, SessionEvent};
pub use sessions::{AnswerMode, Sessions};
pub(super) use sessions::{NODE_SHIFT, SessionMode};

/// Settings of an HTTP endpoint.
#[derive(Clone)]
pub(super) struct Config {
    pub(super) guard: Guard,
    pub(super) body_timeout: Duration,
    pub(super) streams: StreamConfig,
    pub(super) sessions: Sessions,
    pub(super) session_id: Option<Arc<FromHead>>,
    /// Returns the key that binds a session to a part of the program. Default: its path.
    pub(super) session_key: Option<Arc<FromHead>>,
    pub(super) session_hook: Option<Arc<SessionHook>>,
    pub(super) events: Option<EventStorage>,
    /// Time limit of one store operation.
    pub(super) store_timeout: Duration,
    pub(super) gate: Option<Arc<dyn Gate>>,
    shutdown: Option<Shutdown>,
}

pub(super) type FromHead = dyn Fn(&Parts) -> String + Send + Sync;
pub(super) type SessionHook = dyn Fn(SessionEvent<'_>) + Send + Sync;

/// Timing and counters of event streams.
#[derive(Clone, Debug)]
pub(super) struct StreamConfig {
    /// The endpoint's counters.
    pub(super) counters: Arc<Counters>,
    /// Time without output after which a response becomes an event stream.
    pub(super) commit_after: Duration,
    /// Time without output after which a comment is sent on a stream.
    pub(super) keep_alive_interval: Duration,
    /// Maximum age of a stream.
    pub(super) max_age: Option<Duration>,
    /// Time that clients are told to wait before they reconnect.
    pub(super) retry: Duration,
}

/// The store that keeps session events for clients that reconnect.
#[derive(Clone)]
pub(super) struct EventStorage {
    pub(super) store: Arc<GuardedEvents>,
    /// Prefix of stream names, different for each endpoint: endpoints that share a store number their streams
    /// independently.
    pub(super) stream_prefix: Arc<str>,
    /// Limits the tasks that retry a failed deletion.
    pub(super) retrying: Arc<Semaphore>,
}

const DEFAULT_BODY_LIMIT: usize = 4 << 20;
/// Maximum number of concurrent tasks that retry a failed deletion of events, per endpoint.
const MAX_RETRIED_DELETIONS: usize = 64;

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
            session_key: None,
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

    /// Returns the handle that ends the current request's streams: that of the [`Serve`](crate::Serve) that
    /// runs the request, otherwise the configured one.
    pub(super) fn shutdown(&self) -> Option<Shutdown> {
        connection_scope::shutdown().or_else(|| self.shutdown.clone())
    }

    pub(super) fn body_limits(&self) -> BodyLimits<'_> {
        BodyLimits {
            size: self.guard.body_limit,
            time: self.body_timeout,
            budget: &self.streams.counters.bodies,
        }
    }

    /// Calls the session hook. Its panic is caught and logged, so that it does not affect the session, the
    /// request or the task that ends sessions.
    pub(super) fn notify_session_hook(&self, event: SessionEvent<'_>) {
        if let Some(hook) = &self.session_hook
            && let Err(panic) = catch_panic_sync(|| hook(event))
        {
            tracing::error!(panic = %mcp_types::escaped(&panic), "the session hook panicked");
        }
    }

    /// Makes `store` keep the session events.
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
            retrying: Arc::new(Semaphore::new(MAX_RETRIED_DELETIONS)),
        }
    }
}

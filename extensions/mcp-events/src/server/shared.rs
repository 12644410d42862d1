//! The event types, the log and the limits of a server.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use mcp_core::store::StoreError;
use parking_lot::RwLock;
use tokio::sync::{Semaphore, watch};

use super::event_type::TypeEntry;
use super::webhooks::Webhooks;
use crate::event_log::EventLog;

/// The limits of a server's events.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct EventLimits {
    /// Streams of all clients at the same time. Further ones are refused. Default: 1,024.
    pub streams: usize,
    /// Events in a poll's result. Default: 100.
    pub poll_events: usize,
    /// The largest payload in bytes. Default: 240 KiB, so that a webhook has at most 256 KiB.
    pub payload_bytes: usize,
    /// The time between heartbeats of a stream. Default: 15 seconds; the draft allows up to 30.
    pub heartbeat: Duration,
    /// The time after which clients should poll again. Default: 5 seconds.
    pub poll_interval: Duration,
    /// Time limit of each log operation, except waiting for events. Default: 5 seconds.
    pub log_timeout: Duration,
}

impl Default for EventLimits {
    fn default() -> Self {
        Self {
            streams: 1024,
            poll_events: 100,
            payload_bytes: 240 << 10,
            heartbeat: Duration::from_secs(15),
            poll_interval: Duration::from_secs(5),
            log_timeout: Duration::from_secs(5),
        }
    }
}

/// The error of an event that was not published.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// No event type has this payload or name.
    #[error("no event type has the payload or name `{0}`; add it with `Events::event`")]
    NoEventType(String),
    /// The payload is not a JSON object.
    #[error("the event `{name}` cannot be serialized: {reason}")]
    Malformed {
        /// The event type.
        name: String,
        /// The reason.
        reason: String,
    },
    /// The payload is too large.
    #[error("the event `{name}` has {bytes} bytes; the limit is {limit}")]
    TooLarge {
        /// The event type.
        name: String,
        /// The size of the payload.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// The log failed.
    #[error(transparent)]
    Log(#[from] StoreError),
}

type NotifyClients = Box<dyn Fn() + Send + Sync>;

/// The state that the handlers and the publishers share.
pub(crate) struct Shared {
    types: RwLock<Vec<Arc<TypeEntry>>>,
    /// Counts the changes of event types.
    types_changed: watch::Sender<u64>,
    /// Notifies the clients of the server that was registered last.
    pub(super) notify_clients: RwLock<Option<NotifyClients>>,
    pub(super) log: Arc<dyn EventLog>,
    pub(super) limits: RwLock<EventLimits>,
    pub(super) streams: OnceLock<Arc<Semaphore>>,
    pub(super) webhooks: OnceLock<Webhooks>,
}

impl Shared {
    pub(super) fn new(log: Arc<dyn EventLog>) -> Self {
        Self {
            types: RwLock::default(),
            types_changed: watch::Sender::new(0),
            notify_clients: RwLock::default(),
            log,
            limits: RwLock::default(),
            streams: OnceLock::new(),
            webhooks: OnceLock::new(),
        }
    }

    pub(super) fn limits(&self) -> EventLimits {
        *self.limits.read()
    }

    pub(super) fn types(&self) -> Vec<Arc<TypeEntry>> {
        self.types.read().clone()
    }

    /// Changes the event types if `change` returns true, and notifies streams, deliveries and clients.
    pub(super) fn change_types(
        &self,
        change: impl FnOnce(&mut Vec<Arc<TypeEntry>>) -> bool,
    ) -> bool {
        let is_changed = change(&mut self.types.write());
        if is_changed {
            self.types_changed.send_modify(|count| *count += 1);
            if let Some(notify) = &*self.notify_clients.read() {
                notify();
            }
        }
        is_changed
    }

    /// Observes changes of the event types.
    pub(super) fn types_changed(&self) -> watch::Receiver<u64> {
        self.types_changed.subscribe()
    }

    pub(super) fn find_name(&self, name: &str) -> Option<Arc<TypeEntry>> {
        self.find(|entry| entry.descriptor.name == name)
    }

    pub(super) fn find(&self, is_wanted: impl Fn(&TypeEntry) -> bool) -> Option<Arc<TypeEntry>> {
        self.types
            .read()
            .iter()
            .find(|entry| is_wanted(entry))
            .cloned()
    }

    /// Limits the duration of a log operation.
    pub(super) async fn timed<T>(
        &self,
        operation: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let limit = self.limits().log_timeout;
        let timed = tokio::time::timeout(limit, operation).await;
        timed.unwrap_or_else(|_| Err(StoreError::new("the event log did not answer in time")))
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("types", &self.types.read())
            .finish_non_exhaustive()
    }
}

//! The event types, the log and the limits of a server, and publishing.

use std::any::TypeId;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use mcp_core::extension::to_object;
use mcp_core::store::{EventLog, LoggedEvent, StoreError};
use mcp_types::RawObject;
use parking_lot::RwLock;
use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::Semaphore;

use super::event_type::{EventType, TypeEntry};
use super::memory_log::MemoryEventLog;
use super::webhooks::Webhooks;
use crate::clock;
use crate::extension::Events;
use crate::secret::random_hex;

/// The limits of the events of a server.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct EventLimits {
    /// Streams of all clients at the same time. Further ones are refused. Default: 1,024.
    pub streams: usize,
    /// Events in the result of a poll. Default: 100.
    pub poll_events: usize,
    /// The largest payload in bytes. Default: 240 KiB, so that a webhook has at most 256 KiB.
    pub payload_bytes: usize,
    /// The time between heartbeats of a stream. Default: 15 seconds; the draft allows up to 30.
    pub heartbeat: Duration,
    /// The time after which clients should poll again. Default: 5 seconds.
    pub poll_interval: Duration,
    /// The time limit of each operation of the log, except waiting for events. Default: 5 seconds.
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
    /// The payload is no JSON object.
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

/// The state that the handlers and the publishers share.
pub(crate) struct Shared {
    types: RwLock<Vec<Arc<TypeEntry>>>,
    log: Arc<dyn EventLog>,
    limits: RwLock<EventLimits>,
    pub(super) streams: OnceLock<Arc<Semaphore>>,
    pub(super) webhooks: OnceLock<Webhooks>,
}

impl Shared {
    fn new(log: Arc<dyn EventLog>) -> Self {
        Self {
            types: RwLock::default(),
            log,
            limits: RwLock::default(),
            streams: OnceLock::new(),
            webhooks: OnceLock::new(),
        }
    }

    pub(super) fn limits(&self) -> EventLimits {
        *self.limits.read()
    }

    pub(super) fn log(&self) -> &dyn EventLog {
        &*self.log
    }

    pub(super) fn types(&self) -> Vec<Arc<TypeEntry>> {
        self.types.read().clone()
    }

    pub(super) fn find(&self, is_wanted: impl Fn(&TypeEntry) -> bool) -> Option<Arc<TypeEntry>> {
        self.types
            .read()
            .iter()
            .find(|entry| is_wanted(entry))
            .cloned()
    }

    /// Limits the time of an operation of the log.
    pub(super) async fn timed<T>(
        &self,
        operation: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let limit = self.limits().log_timeout;
        let timed = tokio::time::timeout(limit, operation).await;
        timed.unwrap_or_else(|_| Err(StoreError::new("the event log did not answer in time")))
    }
}

impl Events {
    /// The extension, with the log of a server in memory.
    pub fn new() -> Self {
        Self::with_log(MemoryEventLog::new())
    }

    /// The extension of a server with a log of its own, which several nodes may share.
    pub fn with_log(log: impl EventLog) -> Self {
        Self {
            shared: Arc::new(Shared::new(Arc::new(log))),
        }
    }

    /// Adds an event type.
    #[must_use]
    pub fn event<T: JsonSchema + 'static>(self, event: EventType<T>) -> Self {
        self.shared.types.write().push(Arc::new(event.entry));
        self
    }

    /// Changes the limits.
    #[must_use]
    pub fn limits(self, change: impl FnOnce(&mut EventLimits)) -> Self {
        change(&mut self.shared.limits.write());
        self
    }

    /// Delivers events to webhooks. The second call has no effect.
    #[must_use]
    pub fn webhooks(self, webhooks: Webhooks) -> Self {
        let _ = self.shared.webhooks.set(webhooks);
        self
    }

    /// Publishes an event of the type with this payload. If several have it, of the first one.
    ///
    /// # Errors
    ///
    /// Returns [`PublishError`] if there is no such event type, the payload is no object or too large,
    /// or the log fails.
    pub async fn publish<T: Serialize + 'static>(&self, event: &T) -> Result<(), PublishError> {
        let entry = self.shared.find(|entry| entry.payload == TypeId::of::<T>());
        let no_type = || PublishError::NoEventType(std::any::type_name::<T>().to_owned());
        let name = entry.ok_or_else(no_type)?.descriptor.name.clone();
        self.publish_as(&name, event).await
    }

    /// Publishes an event of the type with this name.
    ///
    /// # Errors
    ///
    /// As [`publish`](Self::publish).
    pub async fn publish_as(&self, name: &str, event: &impl Serialize) -> Result<(), PublishError> {
        let shared = &self.shared;
        if shared.find(|entry| entry.descriptor.name == name).is_none() {
            return Err(PublishError::NoEventType(name.to_owned()));
        }
        let data = to_object(event).map_err(|error| PublishError::Malformed {
            name: name.to_owned(),
            reason: error.to_string(),
        })?;
        shared.check_size(name, &data)?;
        let id = format!("evt_{}", random_hex::<16>());
        let event = LoggedEvent::new(id, name, clock::now(), data);
        shared.timed(shared.log().append(event)).await?;
        Ok(())
    }
}

impl Shared {
    fn check_size(&self, name: &str, data: &RawObject) -> Result<(), PublishError> {
        let (bytes, limit) = (data.as_str().len(), self.limits().payload_bytes);
        match bytes > limit {
            true => Err(PublishError::TooLarge {
                name: name.to_owned(),
                bytes,
                limit,
            }),
            false => Ok(()),
        }
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("types", &self.types.read())
            .finish_non_exhaustive()
    }
}

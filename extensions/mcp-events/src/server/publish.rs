//! Server settings, and publishing.

use std::any::TypeId;
use std::sync::Arc;

use mcp_core::extension::to_object;
use schemars::JsonSchema;
use serde::Serialize;

use super::deliveries;
use super::event_type::EventType;
use super::memory_log::MemoryEventLog;
use super::shared::{EventLimits, PublishError, Shared};
use super::unique::unique_id;
use super::webhooks::Webhooks;
use crate::clock;
use crate::event_log::{EventLog, LoggedEvent};
use crate::extension::Events;

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
        self.shared.change_types(|types| {
            types.push(Arc::new(event.entry));
            true
        });
        self
    }

    /// Adds an event type while the server runs, or replaces the one with the same name. Clients that
    /// subscribe to changes of the list are notified.
    ///
    /// In a cluster, change the event types on each node.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::events::{EventType, Events};
    ///
    /// #[derive(serde::Serialize, schemars::JsonSchema)]
    /// struct OrderPlaced {
    ///     order: u64,
    /// }
    ///
    /// let events = Events::new();
    /// let server = mcp::Server::new("shop", "1.0.0").extension(events.clone());
    /// events.add_event(EventType::<OrderPlaced>::new("order.placed").poll());
    /// assert!(events.remove_event("order.placed"));
    /// ```
    pub fn add_event<T: JsonSchema + 'static>(&self, event: EventType<T>) {
        let entry = Arc::new(event.entry);
        self.shared.change_types(|types| {
            let name = &entry.descriptor.name;
            types.retain(|known| known.descriptor.name != *name);
            types.push(entry);
            true
        });
    }

    /// Removes an event type. Returns false if there is none with this name.
    ///
    /// Its streams and the webhook subscriptions end with `terminated`. Clients that subscribe to
    /// changes of the list are notified.
    pub fn remove_event(&self, name: &str) -> bool {
        self.shared.change_types(|types| {
            let before = types.len();
            types.retain(|known| known.descriptor.name != name);
            types.len() < before
        })
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
    /// Returns [`PublishError`] if there is no such event type, the payload is not an object or too large,
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
        if shared.find_name(name).is_none() {
            return Err(PublishError::NoEventType(name.to_owned()));
        }
        let data = to_object(event).map_err(|error| PublishError::Malformed {
            name: name.to_owned(),
            reason: error.to_string(),
        })?;
        let (bytes, limit) = (data.as_str().len(), shared.limits().payload_bytes);
        if bytes > limit {
            let name = name.to_owned();
            return Err(PublishError::TooLarge { name, bytes, limit });
        }
        deliveries::start(shared);
        let id = format!("evt_{}", unique_id());
        let event = LoggedEvent::new(id, name, clock::now(), data);
        shared.timed(shared.log.append(event)).await?;
        Ok(())
    }
}

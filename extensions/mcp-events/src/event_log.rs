//! Logs of the events that a server publishes.

use std::sync::Arc;

use async_trait::async_trait;
use mcp_core::store::StoreError;
use mcp_types::RawObject;

/// The events that a server publishes, in order, for the clients that read or receive them later.
///
/// Each event type has a log of its own. A cursor is a position in one log, opaque to clients: it
/// names an event, and everything after it is still to be read. A log may forget its oldest events.
/// Nodes that share a log deliver the events of each other.
///
/// The server bounds each operation by a time limit of its own only where it waits for clients; an
/// implementation over a network needs one for each operation except [`wait`](Self::wait).
#[async_trait]
pub trait EventLog: Send + Sync + 'static {
    /// Appends an event to its type's log, and returns its cursor.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] when the log fails.
    async fn append(&self, event: LoggedEvent) -> Result<String, StoreError>;

    /// Returns the cursor of the newest event, or the cursor before the first one.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] when the log fails.
    async fn end(&self, name: &str) -> Result<String, StoreError>;

    /// Returns up to `limit` events after a cursor. A cursor that the log does not know is not an error:
    /// the page begins with the oldest event and is marked as truncated.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] when the log fails.
    async fn read(&self, name: &str, after: &str, limit: usize) -> Result<LogPage, StoreError>;

    /// Waits until the log has an event after a cursor. May return early.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] when the log fails.
    async fn wait(&self, name: &str, after: &str) -> Result<(), StoreError>;
}

#[async_trait]
impl<L: EventLog + ?Sized> EventLog for Arc<L> {
    async fn append(&self, event: LoggedEvent) -> Result<String, StoreError> {
        (**self).append(event).await
    }

    async fn end(&self, name: &str) -> Result<String, StoreError> {
        (**self).end(name).await
    }

    async fn read(&self, name: &str, after: &str, limit: usize) -> Result<LogPage, StoreError> {
        (**self).read(name, after, limit).await
    }

    async fn wait(&self, name: &str, after: &str) -> Result<(), StoreError> {
        (**self).wait(name, after).await
    }
}

/// An event in a log.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LoggedEvent {
    /// The unique id, by which receivers find repeated events.
    pub id: String,
    /// The name of the event type.
    pub name: String,
    /// The event time, in milliseconds since 1970.
    pub timestamp: u64,
    /// The payload.
    pub data: RawObject,
}

impl LoggedEvent {
    /// An event.
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        timestamp: u64,
        data: RawObject,
    ) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            timestamp,
            data,
        }
    }
}

/// A part of a log.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct LogPage {
    /// The events with their cursors, in order.
    pub events: Vec<(String, LoggedEvent)>,
    /// True if the log has forgotten events between the cursor and this page.
    pub truncated: bool,
    /// True if there are events after this page.
    pub has_more: bool,
}

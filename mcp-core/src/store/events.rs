//! Stores of stream events, for clients that reconnect.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;

use super::StoreError;

/// The id of a stream: its session and its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "an id has these parts")]
pub struct StreamId<'a> {
    /// The session id.
    pub session: &'a str,
    /// The stream name within the session.
    pub stream: &'a str,
}

/// A stream event.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredEvent {
    /// The message as JSON. Empty for an event without a message.
    pub text: Bytes,
    /// True for a stream's last event.
    pub is_last: bool,
}

impl StoredEvent {
    /// An event that is not the last one.
    pub fn new(text: Bytes) -> Self {
        Self {
            text,
            is_last: false,
        }
    }
}

/// The events that a client has missed, or the first of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Replay {
    /// The events with their numbers, in order.
    pub events: Vec<(u64, StoredEvent)>,
    /// True if the stream has ended, and no other event follows.
    pub is_over: bool,
    /// True if the store has more events after these. The caller asks again, after the last of them.
    pub has_more: bool,
}

impl Replay {
    /// A replay of these events, which are all that the store has. Set [`has_more`](Self::has_more) for the
    /// first part of a longer replay.
    pub fn new(events: Vec<(u64, StoredEvent)>, is_over: bool) -> Self {
        Self {
            events,
            is_over,
            has_more: false,
        }
    }
}

/// A replay that is not possible.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The session has no such stream, or its events were dropped.
    #[error("this session has no such stream, or its events are no longer kept")]
    Unknown,
    /// Events that the client has missed were dropped.
    #[error("events after this one are no longer kept; make the request again")]
    TooOld,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A store of stream events. When its data is lost, a client whose connection breaks does not receive
/// its running call's response.
///
/// The transport limits the time of each call, and a panic counts as a store failure. Errors
/// are logged and not sent to clients.
///
/// Spec: <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery>
#[async_trait]
pub trait EventStore: Send + Sync + 'static {
    /// Stores an event and returns its number, which is greater than the earlier numbers in
    /// the stream, from whichever node.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] when the event was not stored. It is then sent to the connected client
    /// and cannot be replayed.
    async fn append(&self, stream: StreamId<'_>, event: StoredEvent) -> Result<u64, StoreError>;

    /// Returns the events of a stream with numbers above `after`, or all events.
    ///
    /// A client that resumes a stream has the result in memory until it has read it. A store therefore
    /// returns some 256 KiB at once, and sets [`Replay::has_more`] when it has more.
    ///
    /// # Errors
    ///
    /// Returns [`ReplayError`] when one of these events is not available.
    async fn after(&self, stream: StreamId<'_>, after: Option<u64>) -> Result<Replay, ReplayError>;

    /// Removes all streams of a session.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] when events may still be stored.
    async fn forget(&self, session: &str) -> Result<(), StoreError>;
}

#[async_trait]
impl<S: EventStore + ?Sized> EventStore for Arc<S> {
    async fn append(&self, stream: StreamId<'_>, event: StoredEvent) -> Result<u64, StoreError> {
        (**self).append(stream, event).await
    }

    async fn after(&self, stream: StreamId<'_>, after: Option<u64>) -> Result<Replay, ReplayError> {
        (**self).after(stream, after).await
    }

    async fn forget(&self, session: &str) -> Result<(), StoreError> {
        (**self).forget(session).await
    }
}

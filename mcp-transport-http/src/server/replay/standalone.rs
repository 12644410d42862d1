//! Stored events of a session's GET stream, which carries messages that belong to no call.

use std::time::Duration;

use bytes::Bytes;
use mcp_core::store::{EventStore, StoredEvent, StreamId};

use super::super::request::rejection::Rejection;
use super::event_id;
use crate::sse::encode as sse;

/// The GET stream's name.
pub(in crate::server) const STANDALONE_STREAM: &str = "0";

/// Stored events that a client has missed.
pub(in crate::server) struct MissedEvents {
    /// The events, encoded.
    pub(in crate::server) events: Vec<u8>,
    /// Number of the last event in `events`, if the store has further ones.
    pub(in crate::server) more_after: Option<u64>,
}

/// Returns the first events after the event `last`.
///
/// # Errors
///
/// Returns a rejection when the store does not have these events.
pub(in crate::server) async fn missed_events(
    store: &dyn EventStore,
    session: &str,
    last: u64,
    retry: Duration,
) -> Result<MissedEvents, Rejection> {
    let id = StreamId {
        session,
        stream: STANDALONE_STREAM,
    };
    let missed = store.after(id, Some(last)).await;
    let missed = missed.map_err(|error| event_id::rejection(&error))?;
    let mut events = Vec::new();
    for (number, event) in &missed.events {
        event_id::encode(&mut events, STANDALONE_STREAM, *number, event, retry);
    }
    let end = missed.events.last().map(|(number, _)| *number);
    Ok(MissedEvents {
        events,
        more_after: end.filter(|_| missed.has_more),
    })
}

/// Stores a message and returns its event. An empty message starts a stream. A message that cannot
/// be stored is sent without an id.
pub(in crate::server) async fn append(
    store: &dyn EventStore,
    session: &str,
    message: Bytes,
    retry: Duration,
) -> Vec<u8> {
    let event = StoredEvent::new(message);
    let id = StreamId {
        session,
        stream: STANDALONE_STREAM,
    };
    let mut events = Vec::new();
    match store.append(id, event.clone()).await {
        Ok(number) => {
            event_id::encode(&mut events, STANDALONE_STREAM, number, &event, retry);
        }
        Err(_) if event.text.is_empty() => {}
        Err(_) => events = sse::message_event(&event.text),
    }
    events
}

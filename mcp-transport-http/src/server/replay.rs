//! Streams of sessions whose events are stored, so that a client can reconnect with `Last-Event-ID`
//! and receive the events that it missed.
//!
//! The task of a call appends events to the store, and a reader loads them from the store and sends
//! them. Readers come and go without an effect on the call.
//!
//! | layer | module | contents |
//! |---|---|---|
//! | 1 | `deletion` | deletes a session's events, with retries |
//! | 1 | `event_id` | event ids and the encoding of stored events |
//! | 1 | `writer` | the server that writes a stream, and whether it still runs |
//! | 1 | `reader_slot` | one reader per stream; a new reader replaces the previous one |
//! | 2 | `stored_stream` | the call streams, written by their tasks |
//! | 2 | `standalone` | the GET stream of a session |
//! | 3 | `stream_reader` | reads a call's stream from any position |
//! | 4 | `respond` | responses to new calls and to reconnecting clients |
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery>

mod deletion;
mod event_id;
mod reader_slot;
mod respond;
mod standalone;
mod stored_stream;
mod stream_reader;
mod writer;

pub(super) use deletion::delete_events;
pub(super) use event_id::EventId;
pub(super) use reader_slot::{ReaderLease, ReaderSlot};
pub(super) use respond::{complete, resume, running};
pub(super) use standalone::{MissedEvents, STANDALONE_STREAM, append, missed_events};
pub(super) use stored_stream::{StoredStream, StoredStreams};

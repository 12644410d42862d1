//! Event-stream responses whose events are stored, so that the client can resume them.

use std::sync::Arc;

use bytes::Bytes;
use http::Response;
use mcp_core::store::StreamId;
use mcp_types::ProtocolVersion;
use tracing::Instrument;

use super::super::call::HttpCall;
use super::super::config::{Config, EventStorage};
use super::super::event_stream;
use super::super::event_stream::lifetime;
use super::super::request::rejection::Rejection;
use super::super::response::{self, Body};
use super::super::running_calls::ActivityGuard;
use super::event_id::{self, EventId};
use super::stored_stream::{StoredStream, StoredStreams};
use super::stream_reader::{Follower, ReplaySource, StreamReader};
use super::writer::{self, StreamWriter};

/// Stores the events of a call that has ended, and returns the response that sends them.
pub(in crate::server) async fn complete(
    stream: Arc<StoredStream>,
    version: ProtocolVersion,
    events: Bytes,
    config: &Config,
) -> Response<Body> {
    stream.append_first_event(version).await;
    stream.append_all(events, true).await;
    read_from_start(stream, config)
}

/// Moves a running call into a task that stores its events, and returns the response that sends
/// them. `first` contains the events that the call has sent so far.
pub(in crate::server) fn running(
    stream: Arc<StoredStream>,
    call: HttpCall,
    first: Bytes,
    config: &Config,
) -> Response<Body> {
    let version = call.target().version;
    let buffer = event_stream::start_detached(call, config);
    let writer = Arc::clone(&stream);
    let write = async move {
        writer.append_first_event(version).await;
        writer.append_from(first, buffer).await;
    };
    tokio::spawn(write.in_current_span());
    read_from_start(stream, config)
}

fn read_from_start(stream: Arc<StoredStream>, config: &Config) -> Response<Body> {
    match stream.reader.lease(None) {
        Ok(lease) => {
            let mut reader = StreamReader::new(stream.name.clone(), &config.streams);
            reader.source = ReplaySource::Written(stream, lease);
            response::events(reader)
        }
        // Unreachable: the stream is new, so it has no other reader.
        Err(error) => Rejection::from(error).into_response(),
    }
}

/// Returns the response that sends a stream's events after the event `last`. `activity` keeps
/// the session alive.
///
/// # Errors
///
/// Returns a rejection when the events are not in the store, when the stream has another reader, or when the server
/// that wrote it has ended.
// spec: RSM-03, RSM-04
pub(in crate::server) async fn resume(
    storage: &EventStorage,
    streams: &StoredStreams,
    session: &Arc<str>,
    activity: ActivityGuard,
    config: &Config,
    last: &EventId,
) -> Result<Response<Body>, Rejection> {
    let stream = streams.find(&last.stream);
    // The lease comes before the events: a client that has to wait loads none.
    let lease = match &stream {
        Some(stream) => {
            stream.progress().is_released = false;
            Some(stream.reader.lease(None)?)
        }
        None => None,
    };
    let id = StreamId {
        session,
        stream: &last.stream,
    };
    // Another server writes a stream that this one does not know.
    let writer = match &stream {
        Some(_) => None,
        None => StreamWriter::of(&last.stream, config),
    };
    let store = &*storage.store;
    let missed = writer::events_after(store, id, Some(last.number), writer.as_ref()).await;
    let missed = missed.map_err(|error| event_id::rejection(&error))?;
    let missed = missed.ok_or_else(event_id::writer_ended)?;
    let mut reader = StreamReader::new(last.stream.clone(), &config.streams);
    reader.activity = Some(activity);
    // An event number beyond the end of the stream is replaced by the number of the last event.
    let end = stream
        .as_ref()
        .and_then(|stream| stream.progress().last_event);
    reader.last_event = Some(end.map_or(last.number, |end| last.number.min(end)));
    reader.source = match stream.zip(lease) {
        Some((stream, lease)) => ReplaySource::Written(stream, lease),
        None => ReplaySource::Stored {
            store: Arc::clone(&storage.store) as _,
            session: Arc::clone(session),
            writer,
            has_more: missed.has_more,
            follower: Follower::new(lifetime::stream_end(config, None)),
        },
    };
    reader.send(missed);
    Ok(response::events(reader))
}

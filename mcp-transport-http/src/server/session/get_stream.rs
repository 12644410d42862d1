//! GET: the stream of a session for messages that belong to no call.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream;
use http::Response;
use http::request::Parts;
use mcp_core::legacy::Session;
use mcp_core::store::{EventStore, RelayEvent};
use mcp_core::{BoxFuture, ServerNotification, Subscriber};

use super::super::config::Config;
use super::super::event_stream::keep_alive::KeepAlive;
use super::super::event_stream::lifetime;
use super::super::replay::{self, EventId, MissedEvents, ReaderLease, STANDALONE_STREAM};
use super::super::request::rejection::Rejection;
use super::super::response::{self, Body};
use super::super::running_calls::ActivityGuard;
use super::http_session::HttpSession;
use super::relay;
use super::subscriber::long_lived_subscriber;
use crate::headers::names;
use crate::sse::encode as sse;

/// Returns the response with the GET stream, or with the rest of the stream that `Last-Event-ID`
/// names.
///
/// # Errors
///
/// Returns a rejection when the requested events are not available, or when another client has just
/// opened the stream.
///
/// A second GET takes the stream over, and 409 is the answer within 5 seconds of that. The reference answers
/// 409 while a stream is open, so a client whose connection broke unnoticed stays without its stream until
/// the server notices.
// spec: HTTP-SL-08, HTTP-SL-09, HTTP-SL-10, RSM-03
pub(super) async fn open(
    session: &Arc<HttpSession>,
    head: Box<Parts>,
    config: &Config,
) -> Result<Response<Body>, Rejection> {
    let last = match &config.events {
        Some(_) => head.headers.get(names::LAST_EVENT_ID),
        None => None,
    };
    let last = last.map(EventId::parse).transpose()?;
    if let (Some(storage), Some(last)) = (&config.events, &last)
        && &*last.stream != STANDALONE_STREAM
    {
        let activity = session.calls.keep_alive();
        let streams = session.stored_streams();
        let response =
            replay::resume(storage, streams, &session.id, activity, config, last).await?;
        return check_open(session).map(|()| response);
    }
    // The slot exists before the stream has a number: messages about later streams are not missed.
    let reader = session.standalone_reader();
    let number = relay::stream_number(session).await;
    // The lease comes before the events: a client that has to wait loads none.
    let lease = reader.lease(number)?;
    if let Some(number) = number {
        relay::notify(session, RelayEvent::StreamOpened(number)).await;
    }
    let mut ready = Vec::new();
    let mut more_after = None;
    if let (Some(storage), Some(last)) = (&config.events, &last) {
        let (store, retry) = (&*storage.store, config.streams.retry);
        let missed = replay::missed_events(store, &session.id, last.number, retry).await?;
        MissedEvents {
            events: ready,
            more_after,
        } = missed;
    }
    check_open(session)?;
    if ready.is_empty() {
        ready.extend_from_slice(sse::OPENING_COMMENT);
    }
    // Boxed, because `unfold` stores its state twice.
    let stream = Box::new(StandaloneStream {
        _activity: session.calls.keep_alive(),
        subscriber: long_lived_subscriber(head, config),
        lease,
        keep_alive: KeepAlive::new(&config.streams),
        end: lifetime::stream_end(config, None),
        needs_first_event: session.protocol.version().has_stream_polling(),
        ready: ready.into(),
        more_after,
        session: Arc::clone(session),
    });
    Ok(response::events(stream::unfold(
        stream,
        |mut stream| async move {
            let events = stream.next().await?;
            Some((events, stream))
        },
    )))
}

/// The GET stream of a session, which carries notifications about changes. While no client reads it,
/// the session remembers the changes, once for each list and each resource.
struct StandaloneStream {
    session: Arc<HttpSession>,
    subscriber: Subscriber,
    _activity: ActivityGuard,
    lease: ReaderLease,
    keep_alive: KeepAlive,
    /// The server's shutdown, or the maximum age.
    end: BoxFuture<'static, ()>,
    /// The client needs an event id to reconnect with.
    needs_first_event: bool,
    /// Encoded events to send first.
    ready: Bytes,
    /// Number of the last event in `ready`, when the store has more events that the client missed.
    more_after: Option<u64>,
}

impl StandaloneStream {
    /// Waits for the next frame. Returns `None` at the end of the stream.
    async fn next(&mut self) -> Option<Bytes> {
        let mut events = std::mem::take(&mut self.ready);
        while events.is_empty() {
            if let Some(last) = self.more_after.take() {
                events = self.load_missed(last).await?;
                continue;
            }
            if std::mem::take(&mut self.needs_first_event) {
                events = store(&self.session, Bytes::new()).await;
                continue;
            }
            let protocol = &self.session.protocol;
            let change = tokio::select! {
                biased;
                _ = self.lease.end() => return None,
                () = &mut self.end => return None,
                // spec: HTTP-SL-10
                change = std::future::poll_fn(|cx| protocol.poll_change(cx, &self.subscriber)) => change,
                comment = self.keep_alive.comment() => return Some(comment),
            };
            if let Some(message) = encode(protocol, change) {
                // Not inside `select!`: the end of the stream does not interrupt the store.
                events = store(&self.session, message).await;
            }
        }
        self.keep_alive.reset();
        Some(events)
    }

    /// Loads more events that the client missed. Returns `None` when that fails: the stream ends, and
    /// the client reconnects with the id of the last event that it received.
    async fn load_missed(&mut self, last: u64) -> Option<Bytes> {
        let config = &self.session.config;
        let store = &*config.events.as_ref()?.store;
        let (id, retry) = (&self.session.id, config.streams.retry);
        // Boxed, because each GET stream would keep memory for this future.
        let missed = Box::pin(replay::missed_events(store, id, last, retry)).await;
        let missed = missed.ok()?;
        self.more_after = missed.more_after;
        Some(missed.events.into())
    }
}

/// Checks that a session has not ended while its request waited. A stream that was opened after the
/// end of its session would never end.
fn check_open(session: &HttpSession) -> Result<(), Rejection> {
    if session.is_ended() {
        Err(Rejection::session_not_found())
    } else {
        Ok(())
    }
}

/// Stores a message, where events are stored, and returns its event. An empty message starts the
/// stream.
async fn store(session: &HttpSession, message: Bytes) -> Bytes {
    match &session.config.events {
        // Boxed, because each GET stream would keep memory for this future.
        Some(storage) => Box::pin(async {
            let store = &*storage.store;
            let retry = session.config.streams.retry;
            let event = replay::append(store, &session.id, message, retry).await;
            if session.has_deleted_events() {
                // The deletion may have been earlier. A failure is in the log.
                drop(store.forget(&session.id).await);
            }
            event
        })
        .await
        .into(),
        None if message.is_empty() => message,
        None => sse::message_event(&message).into(),
    }
}

/// Encodes a notification about a change. Returns `None` when the revision does not have it. Takes the
/// change, so that a stream that waits for its next one does not hold it.
fn encode(session: &Session, change: ServerNotification) -> Option<Bytes> {
    let mut message = Vec::new();
    session
        .encode_notification(&change, &mut message)
        .then(|| message.into())
}

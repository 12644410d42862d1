//! Reader for the stored event stream of a call, as a response body.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use mcp_core::BoxFuture;
use mcp_core::store::{EventStore, Replay, ReplayError, StoredEvent, StreamId};
use tokio::time::sleep;

use super::super::config::StreamConfig;
use super::super::event_stream::keep_alive::KeepAlive;
use super::super::running_calls::ActivityGuard;
use super::event_id;
use super::reader_slot::{ReaderEnd, ReaderLease};
use super::stored_stream::StoredStream;
use super::writer::{self, StreamWriter};

/// Number of attempts to load events. A client that has no event id yet cannot reconnect, and would lose
/// its call's response.
const MAX_ATTEMPTS: usize = 3;
/// Time between two attempts.
const RETRY_DELAY: Duration = Duration::from_millis(250);
/// Time before the first query for new events of another server. Each further wait is twice as long.
const FIRST_POLL_DELAY: Duration = Duration::from_millis(50);
const MAX_POLL_DELAY: Duration = Duration::from_secs(1);
/// Time without events after which the client has to reconnect: the other server may have ended.
const MAX_SILENCE: Duration = Duration::from_secs(30);

/// The source of the events.
pub(super) enum ReplaySource {
    /// A stream that this server still writes, and its reader's lease.
    Written(Arc<StoredStream>, ReaderLease),
    /// Events in the store, which another server writes.
    Stored {
        store: Arc<dyn EventStore>,
        session: Arc<str>,
        /// `None` if it is not known whether the server runs.
        writer: Option<StreamWriter>,
        has_more: bool,
        follower: Follower,
    },
    /// No events.
    Nothing,
}

/// Times of the queries for new events of another server.
pub(super) struct Follower {
    delay: Duration,
    /// Time since the last event.
    silence: Duration,
    /// The server's shutdown, or the maximum age of streams.
    end: BoxFuture<'static, ()>,
}

impl Follower {
    pub(super) fn new(end: BoxFuture<'static, ()>) -> Self {
        Self {
            delay: FIRST_POLL_DELAY,
            silence: Duration::ZERO,
            end,
        }
    }

    /// Returns the time to wait before the next query. `None` when the response has to end.
    fn next_delay(&mut self, cx: &mut Context<'_>) -> Option<Duration> {
        if self.silence >= MAX_SILENCE || self.end.as_mut().poll(cx).is_ready() {
            return None;
        }
        let delay = self.delay;
        self.silence += delay;
        self.delay = (delay * 2).min(MAX_POLL_DELAY);
        Some(delay)
    }

    fn record_events(&mut self) {
        self.delay = FIRST_POLL_DELAY;
        self.silence = Duration::ZERO;
    }
}

/// Reader for the stored event stream of a call.
pub(super) struct StreamReader {
    name: Box<str>,
    pub(super) source: ReplaySource,
    /// Keeps the session alive while a client reads.
    pub(super) activity: Option<ActivityGuard>,
    /// Number of the last event that the client has received.
    pub(super) last_event: Option<u64>,
    /// Pending query to the store.
    query: Option<BoxFuture<'static, Result<Option<Replay>, ReplayError>>>,
    /// Encoded events to send.
    out: Vec<u8>,
    retry: Duration,
    keep_alive: KeepAlive,
    is_done: bool,
}

impl StreamReader {
    pub(super) fn new(name: Box<str>, config: &StreamConfig) -> Self {
        Self {
            name,
            source: ReplaySource::Nothing,
            activity: None,
            last_event: None,
            query: None,
            out: Vec::new(),
            retry: config.retry,
            keep_alive: KeepAlive::new(config),
            is_done: false,
        }
    }

    /// Sends events from the store.
    pub(super) fn send(&mut self, replay: Replay) {
        if let ReplaySource::Stored {
            has_more, follower, ..
        } = &mut self.source
        {
            *has_more = replay.has_more;
            if !replay.events.is_empty() {
                follower.record_events();
            }
        }
        for (number, event) in replay.events {
            if self.last_event.is_none_or(|last| number > last) {
                self.take_unsaved(Some(number));
                if !self.was_sent(number, &event) {
                    event_id::encode(&mut self.out, &self.name, number, &event, self.retry);
                }
                self.last_event = Some(number);
            }
        }
        if replay.is_over {
            self.take_unsaved(None);
            self.is_done = true;
        }
    }

    /// Sends the events without an id that come before the event `number`; without a number, all of them.
    fn take_unsaved(&mut self, number: Option<u64>) {
        if let ReplaySource::Written(stream, _) = &self.source {
            stream.progress().take_unsaved(number, &mut self.out);
        }
    }

    /// Returns whether a reader got this event without an id.
    fn was_sent(&self, number: u64, event: &StoredEvent) -> bool {
        match &self.source {
            ReplaySource::Written(stream, _) => stream.progress().was_sent(number, event),
            _ => false,
        }
    }

    /// Ends this response, if the stream is not complete. The client reconnects after a while.
    fn end_and_retry(&mut self) {
        if !self.is_done {
            event_id::encode_retry(&mut self.out, self.retry);
            self.is_done = true;
        }
    }

    /// Starts to load the events after the number `after`, when `delay` has elapsed.
    fn query(
        &mut self,
        store: Arc<dyn EventStore>,
        session: Arc<str>,
        writer: Option<StreamWriter>,
        after: Option<u64>,
        delay: Duration,
    ) {
        let name = self.name.clone();
        self.query = Some(Box::pin(async move {
            if !delay.is_zero() {
                sleep(delay).await;
            }
            let mut attempts = 1;
            loop {
                let stream = StreamId {
                    session: &session,
                    stream: &name,
                };
                match writer::events_after(&*store, stream, after, writer.as_ref()).await {
                    Err(ReplayError::Store(_)) if attempts < MAX_ATTEMPTS => {
                        attempts += 1;
                        sleep(RETRY_DELAY).await;
                    }
                    result => return result,
                }
            }
        }));
    }

    /// Polls for more events to send, or for the end.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(query) = &mut self.query {
            let result = ready!(query.as_mut().poll(cx));
            self.query = None;
            match result {
                Ok(Some(replay)) => self.send(replay),
                // The store may have them later.
                Err(ReplayError::Store(_)) if self.last_event.is_some() => self.end_and_retry(),
                // The store no longer has the events, or the server that writes them has ended. The client learns
                // that when it reconnects.
                Ok(None) | Err(_) => self.is_done = true,
            }
            return Poll::Ready(());
        }
        let (stream, lease) = match &mut self.source {
            ReplaySource::Written(stream, lease) => (stream, lease),
            ReplaySource::Stored {
                store,
                session,
                writer,
                has_more,
                follower,
            } => {
                let delay = if *has_more {
                    Some(Duration::ZERO)
                } else {
                    follower.next_delay(cx)
                };
                let (store, session) = (Arc::clone(store), Arc::clone(session));
                let writer = writer.clone();
                match delay {
                    Some(delay) => self.query(store, session, writer, self.last_event, delay),
                    None => self.end_and_retry(),
                }
                return Poll::Ready(());
            }
            ReplaySource::Nothing => {
                self.end_and_retry();
                return Poll::Ready(());
            }
        };
        let reader_end = lease.poll_end(cx);
        if reader_end == Poll::Ready(ReaderEnd::Replaced) {
            self.is_done = true;
            return Poll::Ready(());
        }
        let mut progress = stream.progress();
        if progress.last_event > self.last_event {
            let after = self.last_event.or_else(|| progress.before_first());
            drop(progress);
            let (store, session) = (Arc::clone(&stream.store), Arc::clone(&stream.session));
            self.query(store, session, None, after, Duration::ZERO);
            return Poll::Ready(());
        }
        progress.take_unsaved(None, &mut self.out);
        // A client without an event id cannot reconnect.
        let is_released = self.last_event.is_some() && std::mem::take(&mut progress.is_released);
        let is_complete = progress.is_complete;
        drop(progress);
        if is_complete || reader_end.is_ready() {
            self.is_done = true;
        } else if is_released {
            self.end_and_retry();
        }
        if self.out.is_empty() && !self.is_done {
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    }
}

impl Stream for StreamReader {
    type Item = Bytes;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        while self.out.is_empty() && !self.is_done {
            if self.poll_read(cx).is_pending() {
                return self.keep_alive.poll_comment(cx).map(Some);
            }
        }
        self.keep_alive.reset();
        let events = std::mem::take(&mut self.out);
        Poll::Ready((!events.is_empty()).then(|| events.into()))
    }
}

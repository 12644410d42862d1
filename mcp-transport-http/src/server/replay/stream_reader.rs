//! Reader of the stored event stream of a call, as a response body.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use mcp_core::BoxFuture;
use mcp_core::store::{Replay, ReplayError};

use super::super::config::StreamConfig;
use super::super::keep_alive::KeepAlive;
use super::super::running_calls::ActivityGuard;
use super::event_id;
use super::reader_slot::{ReaderEnd, ReaderLease};
use super::stored_stream::StoredStream;

/// Reader of the stored event stream of a call.
pub(super) struct StreamReader {
    name: Box<str>,
    /// The stream, when this server still writes it, and the lease of this reader.
    pub(super) source: Option<(Arc<StoredStream>, ReaderLease)>,
    /// Keeps the session alive while a client reads.
    pub(super) activity: Option<ActivityGuard>,
    /// Number of the last event that the client has received.
    pub(super) last_event: Option<u64>,
    /// Pending query to the store.
    query: Option<BoxFuture<'static, Result<Replay, ReplayError>>>,
    /// Encoded events to send.
    out: Vec<u8>,
    retry: Duration,
    keep_alive: KeepAlive,
    is_done: bool,
}

impl StreamReader {
    pub(super) fn new(name: Box<str>, config: StreamConfig) -> Self {
        Self {
            name,
            source: None,
            activity: None,
            last_event: None,
            query: None,
            out: Vec::new(),
            retry: config.retry,
            keep_alive: KeepAlive::new(config.keep_alive_interval),
            is_done: false,
        }
    }

    /// Sends events from the store.
    pub(super) fn send(&mut self, replay: Replay) {
        for (number, event) in replay.events {
            if self.last_event.is_none_or(|last| number > last) {
                event_id::encode(&mut self.out, &self.name, number, &event, self.retry);
                self.last_event = Some(number);
            }
        }
        self.is_done |= replay.is_over;
    }

    /// Ends this response, if the stream is not complete. The client reconnects after a while.
    pub(super) fn end_and_retry(&mut self) {
        if !self.is_done {
            event_id::encode_retry(&mut self.out, self.retry);
            self.is_done = true;
        }
    }

    /// Polls for more events to send, or for the end.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(query) = &mut self.query {
            let result = ready!(query.as_mut().poll(cx));
            self.query = None;
            match result {
                Ok(replay) => self.send(replay),
                // The store no longer has the events. The client learns that when it reconnects.
                Err(_) => self.is_done = true,
            }
            return Poll::Ready(());
        }
        let Some((stream, lease)) = &self.source else {
            self.is_done = true;
            return Poll::Ready(());
        };
        let reader_end = lease.poll_end(cx);
        if reader_end == Poll::Ready(ReaderEnd::Replaced) {
            self.is_done = true;
            return Poll::Ready(());
        }
        let mut progress = stream.progress();
        if progress.last_event > self.last_event {
            drop(progress);
            let (stream, last_event) = (Arc::clone(stream), self.last_event);
            self.query = Some(Box::pin(async move {
                stream.store.after(stream.id(), last_event).await
            }));
            return Poll::Ready(());
        }
        self.out.append(&mut progress.unsaved);
        // A client without an event id cannot reconnect.
        let is_released = self.last_event.is_some() && std::mem::take(&mut progress.is_released);
        let is_complete = progress.is_complete;
        drop(progress);
        if is_complete || reader_end.is_ready() {
            self.is_done = true;
        } else if is_released {
            self.end_and_retry();
        }
        match self.out.is_empty() && !self.is_done {
            true => Poll::Pending,
            false => Poll::Ready(()),
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

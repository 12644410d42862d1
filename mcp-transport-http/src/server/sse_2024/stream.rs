//! The stream of an HTTP+SSE connection.

use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;
use futures_util::stream;
use mcp_core::{BoxFuture, Subscriber};
use tokio::time::sleep;

use super::super::config::SessionEnd;
use super::super::event_stream::keep_alive::KeepAlive;
use super::super::event_stream::lifetime;
use super::super::replay::ReaderLease;
use super::super::running_calls::ActivityGuard;
use super::super::session::{SessionContext, SessionTable};
use super::connections::{OpenSession, SseConnection, SseConnections};

/// The stream of a connection. The session ends with it.
pub(super) struct SseConnectionStream {
    connections: Weak<SseConnections>,
    sessions: Weak<SessionTable>,
    connection: Arc<SseConnection>,
    lease: ReaderLease,
    subscriber: Subscriber,
    /// Keeps the session alive. `None` before `initialize`.
    activity: Option<ActivityGuard>,
    keep_alive: KeepAlive,
    /// Deadline for `initialize`.
    init_timeout: BoxFuture<'static, ()>,
    /// The server's shutdown.
    draining: BoxFuture<'static, ()>,
}

impl SseConnectionStream {
    pub(super) fn new(
        connections: &Arc<SseConnections>,
        context: &SessionContext<'_>,
        connection: Arc<SseConnection>,
        lease: ReaderLease,
        subscriber: Subscriber,
    ) -> Self {
        let config = context.config;
        Self {
            connections: Arc::downgrade(connections),
            sessions: Arc::downgrade(context.table),
            connection,
            lease,
            subscriber,
            activity: None,
            keep_alive: KeepAlive::new(&config.streams),
            init_timeout: Box::pin(sleep(config.sessions.init_timeout)),
            draining: Box::pin(lifetime::draining(config.shutdown())),
        }
    }

    /// Returns the stream's frames, with `first` as the first one.
    pub(super) fn into_events(self, first: Bytes) -> impl Stream<Item = Bytes> + Send + 'static {
        // Boxed, because `unfold` stores its state twice.
        stream::unfold((first, Box::new(self)), |(first, mut stream)| async move {
            let events = if first.is_empty() {
                stream.next().await?
            } else {
                first
            };
            Some((events, (Bytes::new(), stream)))
        })
    }

    /// Waits for the next frame. Returns `None` at the end of the stream.
    async fn next(&mut self) -> Option<Bytes> {
        let frame = std::future::poll_fn(|cx| {
            // The session's output is sent even when the stream ends.
            if let Poll::Ready(events) = self.poll_session(cx) {
                return Poll::Ready(events);
            }
            if self.poll_end(cx).is_ready() {
                return Poll::Ready(None);
            }
            self.keep_alive.poll_comment(cx).map(Some)
        });
        let frame = frame.await;
        self.keep_alive.reset();
        frame
    }

    /// Polls for messages of the session.
    fn poll_session(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Poll::Ready(replies) = self.connection.early_replies.poll_drain(cx) {
            return Poll::Ready(replies);
        }
        let Some(open) = self.connection.session() else {
            return Poll::Pending;
        };
        let OpenSession { session, output } = &*open;
        self.activity
            .get_or_insert_with(|| session.calls.keep_alive());
        let protocol = &session.protocol;
        while let Poll::Ready(change) = protocol.poll_change(cx, &self.subscriber) {
            let mut message = Vec::new();
            if protocol.encode_notification(&change, &mut message) {
                output.push(&message);
            }
        }
        output.poll_drain(cx)
    }

    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        // Each of them is polled, so that each of them wakes the task.
        let is_ended = self.lease.poll_end(cx).is_ready();
        let is_draining = self.draining.as_mut().poll(cx).is_ready();
        if is_ended || is_draining {
            return Poll::Ready(());
        }
        match self.activity {
            Some(_) => Poll::Pending,
            None => self.init_timeout.as_mut().poll(cx),
        }
    }
}

impl Drop for SseConnectionStream {
    fn drop(&mut self) {
        let id = &self.connection.id;
        if let Some(connections) = self.connections.upgrade() {
            connections.remove(id);
        }
        if let Some(sessions) = self.sessions.upgrade() {
            sessions.end(id, SessionEnd::Disconnected);
        }
        if let Some(open) = self.connection.session() {
            open.output.close();
        }
    }
}

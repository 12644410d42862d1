//! The bounded byte buffer between a running call and the body or pipe that carries its
//! notifications.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use mcp_types::{Meta, ProtocolVersion, RequestId};
use parking_lot::{Mutex, MutexGuard};

use crate::message::ServerNotification;
use crate::observe::QueueShare;
use crate::wire::{self, Framing};

/// A bounded queue of notifications that a transport empties.
pub(crate) trait NotificationSink: Send + Sync {
    /// Queues a notification with further keys of `_meta`. Registers the waker when there is no space.
    /// Sinks that encode no messages leave the keys out.
    fn poll_send(
        &self,
        cx: &mut Context<'_>,
        notification: &ServerNotification,
        meta: Option<&Meta>,
    ) -> Poll<()>;

    /// Queues a notification with further keys of `_meta`, or drops it when there is no space.
    fn try_send(&self, notification: &ServerNotification, meta: Option<&Meta>);
}

/// A bounded buffer of encoded, framed messages. Running calls append to it, and one reader drains
/// it.
///
/// Behavior of a full buffer:
///
/// - A progress report waits for space. After [`mark_stalled`](Self::mark_stalled) it replaces the
///   report before it instead.
/// - A log message is dropped and counted.
/// - A change of a subscription waits. Changes that come meanwhile are merged
///   by the [`Watch`](crate::Watch).
/// - The answer is always appended.
pub struct NotificationBuffer {
    version: ProtocolVersion,
    framing: Framing,
    limit: usize,
    replaces_when_full: bool,
    subscription: Option<RequestId>,
    /// The id that notifications of extensions carry, of a call that streams them.
    stream: Option<RequestId>,
    state: Mutex<BufferState>,
}

#[derive(Default)]
struct BufferState {
    bytes: Vec<u8>,
    /// The newest report that did not fit, framed.
    newest: Vec<u8>,
    stalled: bool,
    /// The answer is in `bytes`, or the reader is gone.
    finished: bool,
    reader: Option<Waker>,
    writers: Vec<Waker>,
    /// Woken when a writer starts to wait.
    writer_watcher: Option<Waker>,
    /// This buffer's share in the queued bytes of its endpoint.
    share: Option<QueueShare>,
}

impl BufferState {
    fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.newest.is_empty()
    }

    /// Updates the share in the queued bytes. Called after each change.
    fn count(&mut self) {
        let bytes = self.bytes.len() + self.newest.len();
        if let Some(share) = &mut self.share {
            share.set(bytes as u64);
        }
    }
}

impl NotificationBuffer {
    /// The default limit, in bytes: 64 KiB.
    const DEFAULT_LIMIT: usize = 64 * 1024;
    /// The limit for a subscription, in bytes: 4 KiB. Its changes are merged before they are encoded.
    const SUBSCRIPTION_LIMIT: usize = 4 * 1024;
    /// The number of reports that can wait. Further ones replace the newest.
    const MAX_WRITERS: usize = 64;

    /// An empty buffer for a revision's messages.
    pub fn new(version: ProtocolVersion, framing: Framing) -> Self {
        Self {
            version,
            framing,
            limit: Self::DEFAULT_LIMIT,
            replaces_when_full: false,
            subscription: None,
            stream: None,
            state: Mutex::default(),
        }
    }

    /// Sets how many bytes are buffered before reports wait. Default: 64 KiB.
    #[cfg(test)]
    pub(crate) fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// Makes this a subscription's buffer: notifications carry the
    /// `subscriptions/listen` request's id, and the limit is 4 KiB.
    #[must_use]
    pub(crate) fn subscription(mut self, id: RequestId) -> Self {
        self.subscription = Some(id);
        self.limit = Self::SUBSCRIPTION_LIMIT;
        self
    }

    /// Makes this the buffer of a call that streams notifications of an extension: they carry its
    /// request's id.
    #[must_use]
    pub(crate) fn stream(mut self, id: RequestId) -> Self {
        self.stream = Some(id);
        self
    }

    /// Lets no report wait: a report that does not fit replaces the one before it. For a buffer that
    /// several calls share.
    #[must_use]
    pub fn replacing_when_full(mut self) -> Self {
        self.replaces_when_full = true;
        self
    }

    /// Returns the number of buffered bytes.
    pub fn buffered(&self) -> usize {
        let state = self.state.lock();
        state.bytes.len() + state.newest.len()
    }

    /// Adds the bytes of this buffer to `total` while they wait for the reader.
    pub fn count_in(&self, total: &Arc<AtomicU64>) {
        let mut state = self.state.lock();
        state.share = Some(QueueShare::new(total));
        state.count();
    }

    /// Returns true if the buffer is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.state.lock().is_empty()
    }

    /// Removes and returns all buffered bytes. Returns `None` after the answer was drained.
    pub fn poll_drain(&self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut state = self.state.lock();
        if !state.is_empty() {
            return Poll::Ready(Some(Self::drain_state(state)));
        }
        if state.finished {
            return Poll::Ready(None);
        }
        state.reader = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Removes and returns all buffered bytes, possibly none.
    pub fn drain(&self) -> Bytes {
        Self::drain_state(self.state.lock())
    }

    fn drain_state(mut state: MutexGuard<'_, BufferState>) -> Bytes {
        if state.is_empty() && state.writers.is_empty() {
            state.stalled = false;
            return Bytes::new();
        }
        let newest = std::mem::take(&mut state.newest);
        let mut bytes = std::mem::take(&mut state.bytes);
        if !state.finished {
            bytes.extend_from_slice(&newest);
        }
        state.stalled = false;
        state.count();
        let writers = std::mem::take(&mut state.writers);
        drop(state);
        writers.into_iter().for_each(Waker::wake);
        bytes.into()
    }

    #[cfg(test)]
    pub(super) fn has_blocked_writer(&self) -> bool {
        !self.state.lock().writers.is_empty()
    }

    /// Ready while a progress report waits for space. The task that polls this decides when the
    /// reader counts as [stalled](Self::mark_stalled).
    ///
    /// Always pending for a subscription, whose changes wait without a limit.
    pub fn poll_blocked_writer(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.state.lock();
        if !state.writers.is_empty() && self.subscription.is_none() {
            return Poll::Ready(());
        }
        state.writer_watcher = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Marks the reader as stalled: reports stop waiting until the buffer is drained again.
    pub fn mark_stalled(&self) {
        let mut state = self.state.lock();
        state.stalled = true;
        let writers = std::mem::take(&mut state.writers);
        drop(state);
        writers.into_iter().for_each(Waker::wake);
    }

    /// Appends the answer, already framed, and ends the stream.
    pub fn finish(&self, answer: &[u8]) {
        let mut state = self.state.lock();
        if state.finished {
            return;
        }
        let newest = std::mem::take(&mut state.newest);
        state.bytes.extend_from_slice(&newest);
        state.bytes.extend_from_slice(answer);
        state.finished = true;
        Self::wake_all(state);
    }

    /// Appends a message that is not a notification, such as a request to the client, whatever the
    /// limit. The caller bounds the number of such messages. Returns false if the reader is gone.
    pub fn push(&self, message: &[u8]) -> bool {
        let mut state = self.state.lock();
        if state.finished {
            return false;
        }
        state.bytes.extend_from_slice(self.framing.prefix);
        state.bytes.extend_from_slice(message);
        state.bytes.extend_from_slice(self.framing.suffix);
        Self::wake_reader(state);
        true
    }

    /// Returns true after the answer was drained, or after [`close`](Self::close).
    pub fn is_finished(&self) -> bool {
        let state = self.state.lock();
        state.finished && state.bytes.is_empty()
    }

    /// Closes the buffer because the reader is gone: drops its bytes and lets no writer wait.
    pub fn close(&self) {
        let mut state = self.state.lock();
        state.finished = true;
        state.bytes = Vec::new();
        state.newest = Vec::new();
        Self::wake_all(state);
    }

    /// Releases the lock, then wakes the reader.
    fn wake_reader(mut state: MutexGuard<'_, BufferState>) {
        state.count();
        let reader = state.reader.take();
        drop(state);
        reader.into_iter().for_each(Waker::wake);
    }

    /// Releases the lock, then wakes the reader and all writers.
    fn wake_all(mut state: MutexGuard<'_, BufferState>) {
        state.count();
        let reader = state.reader.take();
        let writers = std::mem::take(&mut state.writers);
        drop(state);
        reader.into_iter().chain(writers).for_each(Waker::wake);
    }

    fn encode(&self, notification: &ServerNotification, meta: Option<&Meta>, out: &mut Vec<u8>) {
        let start = out.len();
        let subscription = self.subscription.as_ref().or(self.stream.as_ref());
        out.extend_from_slice(self.framing.prefix);
        if wire::write_server(notification, (subscription, meta), self.version, out) {
            out.extend_from_slice(self.framing.suffix);
        } else {
            out.truncate(start);
        }
    }
}

impl NotificationSink for NotificationBuffer {
    fn poll_send(
        &self,
        cx: &mut Context<'_>,
        notification: &ServerNotification,
        meta: Option<&Meta>,
    ) -> Poll<()> {
        let mut state = self.state.lock();
        if state.finished {
            return Poll::Ready(());
        }
        let may_replace =
            state.stalled || self.replaces_when_full || state.writers.len() >= Self::MAX_WRITERS;
        if state.bytes.len() < self.limit {
            self.encode(notification, meta, &mut state.bytes);
        } else if self.subscription.is_none() && may_replace {
            state.newest.clear();
            self.encode(notification, meta, &mut state.newest);
        } else {
            if !state
                .writers
                .iter()
                .any(|waker| waker.will_wake(cx.waker()))
            {
                state.writers.push(cx.waker().clone());
            }
            let watcher = state.writer_watcher.take();
            drop(state);
            watcher.into_iter().for_each(Waker::wake);
            return Poll::Pending;
        }
        Self::wake_reader(state);
        Poll::Ready(())
    }

    fn try_send(&self, notification: &ServerNotification, meta: Option<&Meta>) {
        let mut state = self.state.lock();
        if state.finished {
            return;
        }
        if state.bytes.len() >= self.limit {
            return;
        }
        self.encode(notification, meta, &mut state.bytes);
        Self::wake_reader(state);
    }
}

impl fmt::Debug for NotificationBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state.lock();
        f.debug_struct("NotificationBuffer")
            .field("buffered", &state.bytes.len())
            .field("limit", &self.limit)
            .field("stalled", &state.stalled)
            .field("finished", &state.finished)
            .finish_non_exhaustive()
    }
}

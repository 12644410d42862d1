//! The bounded buffer between a running call and the body or pipe that carries its notifications.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use mcp_types::{LoggingLevel, ProgressToken, RequestId};

use super::{Listener, NotificationSink, ServerNotification, Wants};
use crate::legacy::Session;
use crate::wire::Wire;
use parking_lot::{Mutex, MutexGuard};

/// What a transport puts around every message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Framing {
    /// Before it.
    pub prefix: &'static [u8],
    /// After it.
    pub suffix: &'static [u8],
}

impl Framing {
    /// A frame of a prefix and a suffix.
    pub const fn new(prefix: &'static [u8], suffix: &'static [u8]) -> Self {
        Self { prefix, suffix }
    }
}

/// A bounded byte buffer, filled with framed messages by a running call and emptied whole by one
/// reader. Every message is encoded into it once; no channel, no task.
///
/// Overflow: a report of progress waits for room. Once the transport has called
/// [`mark_stalled`](Self::mark_stalled), because its reader takes nothing, the newest report replaces the one
/// before instead of waiting. Log messages are dropped and counted. The answer always fits.
///
/// A buffer that belongs to a [subscription](Self::subscription) loses nothing: its changes wait as
/// long as they have to, and become one where they gather.
pub struct NotificationBuffer {
    wire: &'static dyn Wire,
    framing: Framing,
    limit: usize,
    /// Reports never wait for room.
    hurries: bool,
    /// What its notes are stamped with.
    subscription: Option<RequestId>,
    /// Whose client is asked here.
    session: Option<Arc<Session>>,
    /// Of the one call that it belongs to.
    wants: Wants,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    bytes: Vec<u8>,
    /// The newest report while the reader is stalled, framed.
    newest: Vec<u8>,
    stalled: bool,
    /// The answer is in `bytes`, or there will be none.
    finished: bool,
    /// Nobody reads any more.
    abandoned: bool,
    dropped_logs: u64,
    reader: Option<Waker>,
    writers: Vec<Waker>,
    /// Woken when a writer begins to wait.
    watcher: Option<Waker>,
}

impl NotificationBuffer {
    /// How many bytes wait at the most before reports do.
    pub const DEFAULT_LIMIT: usize = 64 * 1024;
    /// The same for a subscription, whose changes gather elsewhere without growing.
    pub const SUBSCRIPTION_LIMIT: usize = 4 * 1024;
    /// How many reports of one call can wait at a time; further ones replace the newest.
    const MAX_WRITERS: usize = 64;

    /// An empty buffer.
    pub fn new(wire: &'static dyn Wire, framing: Framing) -> Self {
        Self {
            wire,
            framing,
            limit: Self::DEFAULT_LIMIT,
            hurries: false,
            subscription: None,
            session: None,
            wants: Wants::default(),
            state: Mutex::default(),
        }
    }

    /// Sets how many bytes wait at the most before reports do.
    #[must_use]
    pub fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// Stamps every note with the `subscriptions/listen` request that it belongs to.
    // spec: META-13, SUB-07
    #[must_use]
    pub fn subscription(mut self, id: RequestId) -> Self {
        self.subscription = Some(id);
        self.limit = Self::SUBSCRIPTION_LIMIT;
        self
    }

    /// An empty buffer of a call that can ask the client of its session: the questions go out among
    /// its notes.
    pub fn asking(wire: &'static dyn Wire, framing: Framing, session: Arc<Session>) -> Self {
        Self {
            session: Some(session),
            ..Self::new(wire, framing)
        }
    }

    /// Makes it the buffer of one call, whose client wants progress under this token, and log
    /// messages from this level on. See [`Outlet::from_buffer`](super::Outlet::from_buffer).
    #[must_use]
    pub fn for_call(mut self, token: Option<ProgressToken>, level: Option<LoggingLevel>) -> Self {
        self.wants = Wants::new(token, level);
        self
    }

    pub(crate) fn is_for_one_call(&self) -> bool {
        !self.wants.is_nothing()
    }

    pub(crate) fn session(&self) -> Option<&Arc<Session>> {
        self.session.as_ref()
    }

    /// Lets no report wait: when there is no room, the newest one replaces the one before. For a
    /// buffer of several calls, whose reports must not wait for each other's reader.
    #[must_use]
    pub fn replacing_when_full(mut self) -> Self {
        self.hurries = true;
        self
    }

    /// How many bytes wait to be taken.
    pub fn buffered(&self) -> usize {
        let state = self.state.lock();
        state.bytes.len() + state.newest.len()
    }

    /// Takes everything that waits; `None` when the answer was taken before.
    pub fn poll_drain(&self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut state = self.state.lock();
        if state.bytes.is_empty() && state.newest.is_empty() {
            if state.finished {
                return Poll::Ready(None);
            }
            state.reader = Some(cx.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(Some(Self::take(state)))
    }

    /// Takes everything that waits, also when that is nothing.
    pub fn drain(&self) -> Bytes {
        Self::take(self.state.lock())
    }

    fn take(mut state: MutexGuard<'_, State>) -> Bytes {
        let newest = std::mem::take(&mut state.newest);
        let mut bytes = std::mem::take(&mut state.bytes);
        if !state.finished {
            bytes.extend_from_slice(&newest);
        }
        state.stalled = false;
        let writers = std::mem::take(&mut state.writers);
        drop(state);
        writers.into_iter().for_each(Waker::wake);
        bytes.into()
    }

    /// Nothing waits to be taken.
    pub fn is_empty(&self) -> bool {
        let state = self.state.lock();
        state.bytes.is_empty() && state.newest.is_empty()
    }

    /// A report of progress waits for room.
    #[cfg(test)]
    pub(super) fn has_blocked_writer(&self) -> bool {
        !self.state.lock().writers.is_empty()
    }

    /// Ready while a report of progress waits for room; else wakes the task once one does. A
    /// subscription waits without anybody's help. Whoever
    /// polls this is the one to say that the reader has [stalled](Self::mark_stalled).
    pub fn poll_blocked_writer(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.state.lock();
        if !state.writers.is_empty() && self.subscription.is_none() {
            return Poll::Ready(());
        }
        state.watcher = Some(cx.waker().clone());
        Poll::Pending
    }

    /// How many log messages found no room.
    pub fn dropped_logs(&self) -> u64 {
        self.state.lock().dropped_logs
    }

    /// Says that the reader takes nothing: reports stop waiting until it takes again.
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
        if state.finished || state.abandoned {
            return;
        }
        let newest = std::mem::take(&mut state.newest);
        state.bytes.extend_from_slice(&newest);
        state.bytes.extend_from_slice(answer);
        state.finished = true;
        Self::wake_all(state);
    }

    /// Appends a message of another kind, such as a request to the client. Tells whether it can
    /// still reach its reader. Whoever sends them bounds how many there are.
    pub fn push(&self, message: &[u8]) -> bool {
        let mut state = self.state.lock();
        if state.finished {
            return false;
        }
        state.bytes.extend_from_slice(self.framing.prefix);
        state.bytes.extend_from_slice(message);
        state.bytes.extend_from_slice(self.framing.suffix);
        let reader = state.reader.take();
        drop(state);
        reader.into_iter().for_each(Waker::wake);
        true
    }

    /// The answer was taken, or there will be none: nothing comes any more.
    pub fn is_finished(&self) -> bool {
        let state = self.state.lock();
        state.finished && state.bytes.is_empty()
    }

    /// Says that nobody reads any more: nothing is kept, nobody waits.
    pub fn close(&self) {
        let mut state = self.state.lock();
        state.abandoned = true;
        state.finished = true;
        state.bytes = Vec::new();
        state.newest = Vec::new();
        Self::wake_all(state);
    }

    fn wake_all(mut state: MutexGuard<'_, State>) {
        let reader = state.reader.take();
        let writers = std::mem::take(&mut state.writers);
        drop(state);
        reader.into_iter().chain(writers).for_each(Waker::wake);
    }

    fn encode(&self, note: &ServerNotification, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(self.framing.prefix);
        if self
            .wire
            .encode_server_notification(note, self.subscription.as_ref(), out)
        {
            out.extend_from_slice(self.framing.suffix);
        } else {
            out.truncate(start);
        }
    }
}

impl Listener for NotificationBuffer {
    fn wants(&self) -> &Wants {
        &self.wants
    }
}

impl NotificationSink for NotificationBuffer {
    fn poll_send(&self, cx: &mut Context<'_>, note: &ServerNotification) -> Poll<()> {
        let mut state = self.state.lock();
        if state.finished {
            return Poll::Ready(());
        }
        if state.bytes.len() < self.limit {
            self.encode(note, &mut state.bytes);
        } else if self.subscription.is_none()
            && (state.stalled || self.hurries || state.writers.len() >= Self::MAX_WRITERS)
        {
            state.newest.clear();
            let mut newest = std::mem::take(&mut state.newest);
            self.encode(note, &mut newest);
            state.newest = newest;
        } else {
            if !state
                .writers
                .iter()
                .any(|waker| waker.will_wake(cx.waker()))
            {
                state.writers.push(cx.waker().clone());
            }
            let watcher = state.watcher.take();
            drop(state);
            watcher.into_iter().for_each(Waker::wake);
            return Poll::Pending;
        }
        let reader = state.reader.take();
        drop(state);
        reader.into_iter().for_each(Waker::wake);
        Poll::Ready(())
    }

    fn try_send(&self, note: &ServerNotification) {
        let mut state = self.state.lock();
        if state.finished {
            return;
        }
        if state.bytes.len() >= self.limit {
            state.dropped_logs += 1;
            return;
        }
        self.encode(note, &mut state.bytes);
        let reader = state.reader.take();
        drop(state);
        reader.into_iter().for_each(Waker::wake);
    }
}

impl std::fmt::Debug for NotificationBuffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = self.state.lock();
        f.debug_struct("NotificationBuffer")
            .field("waiting", &state.bytes.len())
            .field("limit", &self.limit)
            .field("stalled", &state.stalled)
            .field("finished", &state.finished)
            .finish_non_exhaustive()
    }
}

//! A bounded queue of one request's messages.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use mcp_core::{ChannelError, Frame};
use parking_lot::{Mutex, MutexGuard};

/// Capacity in messages.
const MAX_FRAMES: usize = 1024;
/// Capacity in bytes.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// The queued messages of one request, between the router and the caller.
///
/// On overflow, the oldest notifications are dropped. The response is never dropped.
#[derive(Debug, Default)]
pub(super) struct Mailbox {
    state: Mutex<MailboxState>,
}

#[derive(Debug, Default)]
struct MailboxState {
    frames: VecDeque<Frame>,
    bytes: usize,
    dropped: u64,
    error: Option<ChannelError>,
    finished: bool,
    reader: Option<Waker>,
}

impl Mailbox {
    /// Appends a message. Returns the number of older messages that were dropped for it.
    pub(super) fn push(&self, frame: Frame) -> u64 {
        let mut state = self.state.lock();
        if state.finished {
            return 0;
        }
        let before = state.dropped;
        state.bytes += frame.message.len();
        state.frames.push_back(frame);
        while (state.frames.len() > MAX_FRAMES || state.bytes > MAX_BYTES) && state.frames.len() > 1
        {
            if let Some(oldest) = state.frames.pop_front() {
                state.bytes -= oldest.message.len();
                state.dropped += 1;
            }
        }
        let dropped = state.dropped - before;
        Self::wake(state);
        dropped
    }

    /// Finishes the mailbox with its last message, if there is one.
    pub(super) fn finish(&self, last: Option<Frame>) {
        let mut state = self.state.lock();
        if !std::mem::replace(&mut state.finished, true) {
            state.frames.extend(last);
        }
        Self::wake(state);
    }

    /// Finishes the mailbox with an error.
    pub(super) fn fail(&self, error: ChannelError) {
        let mut state = self.state.lock();
        if !std::mem::replace(&mut state.finished, true) {
            state.error = Some(error);
        }
        Self::wake(state);
    }

    fn wake(mut state: MutexGuard<'_, MailboxState>) {
        let reader = state.reader.take();
        drop(state);
        reader.into_iter().for_each(Waker::wake);
    }
}

/// The reading end of a mailbox.
#[derive(Debug)]
pub(super) struct MailboxReader(pub(super) Arc<Mailbox>);

impl Stream for MailboxReader {
    type Item = Result<Frame, ChannelError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut state = self.0.state.lock();
        if let Some(frame) = state.frames.pop_front() {
            state.bytes = state.bytes.saturating_sub(frame.message.len());
            return Poll::Ready(Some(Ok(frame)));
        }
        if state.finished {
            return Poll::Ready(state.error.take().map(Err));
        }
        state.reader = Some(cx.waker().clone());
        Poll::Pending
    }
}

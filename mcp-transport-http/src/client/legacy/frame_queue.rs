//! A bounded message queue between a stream's reader and a call's consumer.

use std::collections::VecDeque;
use std::pin::pin;
use std::task::{Context, Poll};

use futures_util::task::AtomicWaker;
use mcp_core::{ChannelError, Frame};
use parking_lot::Mutex;
use tokio::sync::Notify;

/// Capacity in messages.
const MAX_MESSAGES: usize = 256;
/// Capacity in bytes. A single message may be longer.
const MAX_BYTES: usize = 16 << 20;

/// A queue with one consumer, bounded in messages and bytes. When it is full, the reader of the
/// stream waits, which slows the server down through TCP flow control.
#[derive(Debug, Default)]
pub(super) struct FrameQueue {
    state: Mutex<QueueState>,
    /// Wakes the consumer.
    consumer: AtomicWaker,
    /// Wakes producers that wait for capacity.
    has_capacity: Notify,
}

#[derive(Debug, Default)]
struct QueueState {
    frames: VecDeque<Frame>,
    bytes: usize,
    /// Messages of the server may have been lost.
    gap: bool,
    closed: bool,
}

impl QueueState {
    fn fits(&self, length: usize) -> bool {
        self.frames.is_empty()
            || self.frames.len() < MAX_MESSAGES && length <= MAX_BYTES.saturating_sub(self.bytes)
    }

    fn push(&mut self, frame: Frame) {
        self.bytes += frame.message.len();
        self.frames.push_back(frame);
    }
}

impl FrameQueue {
    /// Appends a message. A closed queue drops it.
    ///
    /// # Errors
    ///
    /// Returns the message when the queue is full.
    pub(super) fn try_push(&self, frame: Frame) -> Result<(), Frame> {
        let mut state = self.state.lock();
        if state.closed {
            return Ok(());
        }
        if !state.fits(frame.message.len()) {
            return Err(frame);
        }
        state.push(frame);
        drop(state);
        self.consumer.wake();
        Ok(())
    }

    /// Appends a message even when the queue is full. Only for a call's response.
    pub(super) fn push_over_limit(&self, frame: Frame) {
        let mut state = self.state.lock();
        if state.closed {
            return;
        }
        state.push(frame);
        drop(state);
        self.consumer.wake();
    }

    /// Appends a message, after waiting for capacity if necessary.
    pub(super) async fn push(&self, mut frame: Frame) {
        loop {
            // Registered before the check, so that a concurrent `pop` is not missed.
            let has_capacity = self.has_capacity.notified();
            match self.try_push(frame) {
                Ok(()) => return,
                Err(back) => frame = back,
            }
            has_capacity.await;
        }
    }

    /// Removes the oldest message.
    pub(super) fn pop(&self) -> Option<Frame> {
        let mut state = self.state.lock();
        let frame = state.frames.pop_front()?;
        state.bytes -= frame.message.len();
        drop(state);
        self.has_capacity.notify_waiters();
        Some(frame)
    }

    /// Removes the oldest message, or waits for one. Returns `None` when the queue is closed and
    /// empty.
    pub(super) fn poll_pop(&self, cx: &Context<'_>) -> Poll<Option<Frame>> {
        self.consumer.register(cx.waker());
        match self.pop() {
            Some(frame) => Poll::Ready(Some(frame)),
            None if self.state.lock().closed => Poll::Ready(None),
            None => Poll::Pending,
        }
    }

    /// Waits until the queue is empty: the consumer has taken all messages.
    pub(super) async fn read_to_end(&self) {
        loop {
            // Registered before the check, so that a concurrent `pop` is not missed.
            let mut popped = pin!(self.has_capacity.notified());
            popped.as_mut().enable();
            if self.is_read_to_end() {
                return;
            }
            popped.await;
        }
    }

    fn is_read_to_end(&self) -> bool {
        let state = self.state.lock();
        state.closed || state.frames.is_empty() && !state.gap
    }

    /// Records that messages may have been lost.
    pub(super) fn mark_gap(&self) {
        self.state.lock().gap = true;
        self.consumer.wake();
    }

    /// Like [`poll_pop`](Self::poll_pop), but returns [`ChannelError::Broken`] once after a gap.
    pub(super) fn poll_inbound(
        &self,
        cx: &Context<'_>,
    ) -> Poll<Option<Result<Frame, ChannelError>>> {
        self.consumer.register(cx.waker());
        if std::mem::take(&mut self.state.lock().gap) {
            self.has_capacity.notify_waiters();
            return Poll::Ready(Some(Err(ChannelError::Broken { source: None })));
        }
        self.poll_pop(cx).map(|frame| frame.map(Ok))
    }

    /// Closes the queue: later messages are dropped and waiting producers return. Queued messages
    /// can still be read.
    pub(super) fn close(&self) {
        self.state.lock().closed = true;
        self.has_capacity.notify_waiters();
        self.consumer.wake();
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Poll, Waker};

    use futures::FutureExt;
    use mcp_core::{ChannelError, Frame};

    use super::{FrameQueue, MAX_BYTES, MAX_MESSAGES};

    fn frame(length: usize) -> Frame {
        Frame::new(vec![b'x'; length])
    }

    #[test]
    fn try_push_to_full_queue_returns_frame() {
        let queue = FrameQueue::default();
        for _ in 0..MAX_MESSAGES {
            queue.try_push(frame(1)).unwrap();
        }
        assert!(queue.try_push(frame(1)).is_err());
        queue.push_over_limit(frame(1));
        queue.pop().unwrap();
        assert!(queue.try_push(frame(1)).is_err());
        queue.pop().unwrap();
        assert!(queue.try_push(frame(1)).is_ok());

        let queue = FrameQueue::default();
        // An empty queue accepts a message of any length.
        queue.try_push(frame(MAX_BYTES + 1)).unwrap();
        assert!(queue.try_push(frame(1)).is_err());
        queue.pop().unwrap();
        queue.try_push(frame(MAX_BYTES - 1)).unwrap();
        assert!(queue.try_push(frame(2)).is_err());
        assert!(queue.try_push(frame(1)).is_ok());
    }

    #[test]
    fn push_to_full_queue_waits_for_pop_or_close() {
        let queue = FrameQueue::default();
        queue.try_push(frame(MAX_BYTES)).unwrap();
        let mut push = Box::pin(queue.push(frame(7)));
        assert!(push.as_mut().now_or_never().is_none());
        queue.pop().unwrap();
        assert!(push.as_mut().now_or_never().is_some());
        drop(push);
        assert_eq!(queue.pop().unwrap().message.len(), 7);

        queue.try_push(frame(MAX_BYTES)).unwrap();
        let mut push = Box::pin(queue.push(frame(7)));
        assert!(push.as_mut().now_or_never().is_none());
        queue.close();
        assert!(push.as_mut().now_or_never().is_some());
    }

    #[test]
    fn poll_pop_after_close_returns_queued_frames_first() {
        let queue = FrameQueue::default();
        let cx = Context::from_waker(Waker::noop());
        assert!(queue.poll_pop(&cx).is_pending());
        queue.try_push(frame(3)).unwrap();
        queue.close();
        queue.push_over_limit(frame(4));
        queue.try_push(frame(5)).unwrap();
        assert!(
            matches!(queue.poll_pop(&cx), Poll::Ready(Some(found)) if found.message.len() == 3)
        );
        assert!(matches!(queue.poll_pop(&cx), Poll::Ready(None)));
    }

    #[test]
    fn poll_inbound_after_gap_returns_one_error() {
        let queue = FrameQueue::default();
        let cx = Context::from_waker(Waker::noop());
        assert!(queue.try_push(frame(1)).is_ok());
        queue.mark_gap();
        queue.mark_gap();
        let gap = queue.poll_inbound(&cx);
        assert!(matches!(
            gap,
            Poll::Ready(Some(Err(ChannelError::Broken { .. })))
        ));
        assert!(matches!(queue.poll_inbound(&cx), Poll::Ready(Some(Ok(_)))));
        assert!(queue.poll_inbound(&cx).is_pending());
    }
}

//! Messages on their way from whoever reads them to whoever takes them.

use std::collections::VecDeque;
use std::task::{Context, Poll};

use futures_util::task::AtomicWaker;
use mcp_core::{ChannelError, Frame};
use parking_lot::Mutex;
use tokio::sync::Notify;

/// Messages that a queue holds at the most.
const MESSAGES: usize = 256;
/// Bytes that a queue holds at the most; one message alone may be longer.
const BYTES: usize = 16 << 20;

/// A queue with one taker, bounded in messages and bytes. Whoever reads a stream waits for room
/// when it is full, so that in the end the server waits.
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    /// Wakes the taker.
    came: AtomicWaker,
    /// Wakes those who wait for room.
    room: Notify,
}

#[derive(Debug, Default)]
struct State {
    frames: VecDeque<Frame>,
    bytes: usize,
    /// Something may be missing that the server has said.
    gap: bool,
    closed: bool,
}

impl State {
    fn has_room(&self, length: usize) -> bool {
        self.frames.is_empty()
            || self.frames.len() < MESSAGES && length <= BYTES.saturating_sub(self.bytes)
    }

    fn put(&mut self, frame: Frame) {
        self.bytes += frame.message.len();
        self.frames.push_back(frame);
    }
}

impl Queue {
    /// Puts a message in when there is room; gives it back when there is none. A closed queue
    /// loses it.
    pub(super) fn offer(&self, frame: Frame) -> Result<(), Frame> {
        let mut state = self.state.lock();
        if state.closed {
            return Ok(());
        }
        if !state.has_room(frame.message.len()) {
            return Err(frame);
        }
        state.put(frame);
        drop(state);
        self.came.wake();
        Ok(())
    }

    /// Puts a message in whether there is room or not. Only for the one answer to a call.
    pub(super) fn force(&self, frame: Frame) {
        let mut state = self.state.lock();
        if state.closed {
            return;
        }
        state.put(frame);
        drop(state);
        self.came.wake();
    }

    /// Puts a message in as soon as there is room.
    pub(super) async fn push(&self, mut frame: Frame) {
        loop {
            // From here on room that is made is noticed.
            let room = self.room.notified();
            match self.offer(frame) {
                Ok(()) => return,
                Err(back) => frame = back,
            }
            room.await;
        }
    }

    /// Takes the oldest message.
    pub(super) fn take(&self) -> Option<Frame> {
        let mut state = self.state.lock();
        let frame = state.frames.pop_front()?;
        state.bytes -= frame.message.len();
        drop(state);
        self.room.notify_waiters();
        Some(frame)
    }

    /// Takes the oldest message, or waits for one; `None` when the queue is closed.
    pub(super) fn poll_take(&self, cx: &Context<'_>) -> Poll<Option<Frame>> {
        self.came.register(cx.waker());
        match self.take() {
            Some(frame) => Poll::Ready(Some(frame)),
            None if self.state.lock().closed => Poll::Ready(None),
            None => Poll::Pending,
        }
    }

    /// Says that something may be missing.
    pub(super) fn mark_gap(&self) {
        self.state.lock().gap = true;
        self.came.wake();
    }

    /// Takes the oldest message, or that some may be missing, which is told but once; or waits.
    pub(super) fn poll_inbound(
        &self,
        cx: &Context<'_>,
    ) -> Poll<Option<Result<Frame, ChannelError>>> {
        self.came.register(cx.waker());
        if std::mem::take(&mut self.state.lock().gap) {
            return Poll::Ready(Some(Err(ChannelError::Broken { source: None })));
        }
        self.poll_take(cx).map(|taken| taken.map(Ok))
    }

    /// Nothing comes in any more, and whoever waits for room stops waiting. What is there can
    /// still be taken.
    pub(super) fn close(&self) {
        self.state.lock().closed = true;
        self.room.notify_waiters();
        self.came.wake();
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Poll, Waker};

    use futures::FutureExt;
    use mcp_core::{ChannelError, Frame};

    use super::{BYTES, MESSAGES, Queue};

    fn frame(length: usize) -> Frame {
        Frame::new(vec![b'x'; length])
    }

    #[test]
    fn bounded_in_messages_and_bytes() {
        let queue = Queue::default();
        for _ in 0..MESSAGES {
            queue.offer(frame(1)).unwrap();
        }
        assert!(queue.offer(frame(1)).is_err());
        queue.force(frame(1));
        queue.take().unwrap();
        assert!(queue.offer(frame(1)).is_err());
        queue.take().unwrap();
        assert!(queue.offer(frame(1)).is_ok());

        let queue = Queue::default();
        // One that is longer than all of it, when there is nothing else.
        queue.offer(frame(BYTES + 1)).unwrap();
        assert!(queue.offer(frame(1)).is_err());
        queue.take().unwrap();
        queue.offer(frame(BYTES - 1)).unwrap();
        assert!(queue.offer(frame(2)).is_err());
        assert!(queue.offer(frame(1)).is_ok());
    }

    #[test]
    fn whoever_finds_it_full_waits() {
        let queue = Queue::default();
        queue.offer(frame(BYTES)).unwrap();
        let mut push = Box::pin(queue.push(frame(7)));
        assert!(push.as_mut().now_or_never().is_none());
        queue.take().unwrap();
        assert!(push.as_mut().now_or_never().is_some());
        drop(push);
        assert_eq!(queue.take().unwrap().message.len(), 7);

        queue.offer(frame(BYTES)).unwrap();
        let mut push = Box::pin(queue.push(frame(7)));
        assert!(push.as_mut().now_or_never().is_none());
        queue.close();
        assert!(push.as_mut().now_or_never().is_some());
    }

    #[test]
    fn a_closed_queue_is_emptied_first() {
        let queue = Queue::default();
        let cx = Context::from_waker(Waker::noop());
        assert!(queue.poll_take(&cx).is_pending());
        queue.offer(frame(3)).unwrap();
        queue.close();
        queue.force(frame(4));
        queue.offer(frame(5)).unwrap();
        assert!(
            matches!(queue.poll_take(&cx), Poll::Ready(Some(found)) if found.message.len() == 3)
        );
        assert!(matches!(queue.poll_take(&cx), Poll::Ready(None)));
    }

    #[test]
    fn a_gap_is_told_once() {
        let queue = Queue::default();
        let cx = Context::from_waker(Waker::noop());
        assert!(queue.offer(frame(1)).is_ok());
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

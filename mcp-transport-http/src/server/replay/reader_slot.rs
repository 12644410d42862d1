//! The reader of a stream. A stream has one reader at a time, and a new reader replaces it.
//!
//! On several nodes, `SessionRelay::next_number` numbers the readers; a reader with a smaller number ends
//! (`docs/decisions/0147-sessions-of-several-nodes.md`).

use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use http::StatusCode;
use mcp_types::codes;
use parking_lot::{Mutex, MutexGuard};
use tokio::time::Instant;

use super::super::request::rejection::Rejection;
use crate::headers::names;

/// Minimum time between two replacements. Two clients that both reconnect at once would otherwise
/// replace each other without end.
const TAKEOVER_INTERVAL: Duration = Duration::from_secs(5);

/// Slot for the reader of a stream.
///
/// A client whose connection is broken reconnects before the server detects that. Therefore a new
/// reader replaces the current one.
#[derive(Debug, Default)]
pub(in crate::server) struct ReaderSlot {
    state: Mutex<SlotState>,
}

#[derive(Debug, Default)]
struct SlotState {
    /// Number of the last reader of this slot. Readers are numbered from 1.
    last_reader: u64,
    /// Largest stream number among the servers that share the session.
    last_stream: u64,
    /// The last reader still holds its lease.
    is_occupied: bool,
    last_takeover: Option<Instant>,
    is_ended: bool,
    waker: Option<Waker>,
}

/// Reason why a reader must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) enum ReaderEnd {
    /// A new reader replaced it.
    Replaced,
    /// The stream has ended.
    StreamEnded,
}

/// Error: the last replacement of a reader is less than [`TAKEOVER_INTERVAL`] ago, or a later stream was
/// opened at another server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) struct TakeoverTooSoon;

impl From<TakeoverTooSoon> for Rejection {
    fn from(_: TakeoverTooSoon) -> Self {
        Self::session(
            StatusCode::CONFLICT,
            codes::BAD_REQUEST,
            "another reader has just taken this stream over; read it there, or come back later",
        )
        .with_header(names::RETRY_AFTER, TAKEOVER_INTERVAL.as_secs())
    }
}

impl ReaderSlot {
    /// Leases the slot to a new reader. `stream` is the number of its stream among those of all servers
    /// that share the session.
    ///
    /// # Errors
    ///
    /// Returns [`TakeoverTooSoon`] when the current reader has just replaced another one, or when a
    /// stream with a larger number exists.
    pub(in crate::server) fn lease(
        self: &Arc<Self>,
        stream: Option<u64>,
    ) -> Result<ReaderLease, TakeoverTooSoon> {
        let now = Instant::now();
        let mut state = self.state.lock();
        if stream.is_some_and(|stream| stream < state.last_stream) {
            return Err(TakeoverTooSoon);
        }
        if state.is_occupied {
            let last = state.last_takeover;
            if last.is_some_and(|last| now.duration_since(last) < TAKEOVER_INTERVAL) {
                return Err(TakeoverTooSoon);
            }
            state.last_takeover = Some(now);
        }
        state.last_stream = stream.unwrap_or(state.last_stream);
        state.last_reader += 1;
        state.is_occupied = true;
        state.is_ended = false;
        let number = state.last_reader;
        wake(state);
        Ok(ReaderLease {
            slot: Arc::clone(self),
            number,
        })
    }

    /// Ends the current reader if its stream is older than the stream with this number at another server.
    pub(in crate::server) fn end_older(&self, stream: u64) {
        let mut state = self.state.lock();
        if stream > state.last_stream {
            state.last_stream = stream;
            state.is_ended = true;
            wake(state);
        }
    }

    /// Ends the current reader, because its stream has ended.
    pub(in crate::server) fn end(&self) {
        let mut state = self.state.lock();
        state.is_ended = true;
        wake(state);
    }

    /// Wakes the current reader.
    pub(in crate::server) fn wake(&self) {
        wake(self.state.lock());
    }
}

/// Wakes the reader after releasing the lock, because the waker may lock the slot again.
fn wake(mut state: MutexGuard<'_, SlotState>) {
    let waker = state.waker.take();
    drop(state);
    if let Some(waker) = waker {
        waker.wake();
    }
}

/// Right of one reader to read a stream. Dropping it frees the slot.
#[derive(Debug)]
pub(in crate::server) struct ReaderLease {
    slot: Arc<ReaderSlot>,
    number: u64,
}

impl ReaderLease {
    /// Polls for the end of the reader. While pending, [`ReaderSlot::wake`] wakes the task as well.
    pub(in crate::server) fn poll_end(&self, cx: &Context<'_>) -> Poll<ReaderEnd> {
        let mut state = self.slot.state.lock();
        if state.last_reader != self.number {
            return Poll::Ready(ReaderEnd::Replaced);
        }
        if state.is_ended {
            return Poll::Ready(ReaderEnd::StreamEnded);
        }
        state.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Waits for the end of the reader.
    pub(in crate::server) async fn end(&self) -> ReaderEnd {
        std::future::poll_fn(|cx| self.poll_end(cx)).await
    }
}

impl Drop for ReaderLease {
    fn drop(&mut self) {
        let mut state = self.slot.state.lock();
        if state.last_reader == self.number {
            state.is_occupied = false;
            state.waker = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures::FutureExt;
    use tokio::time::advance;

    use super::{ReaderEnd, ReaderLease, ReaderSlot, TAKEOVER_INTERVAL, TakeoverTooSoon};

    fn end(lease: &ReaderLease) -> Option<ReaderEnd> {
        lease.end().now_or_never()
    }

    #[tokio::test(start_paused = true)]
    async fn new_reader_replaces_the_current_one_but_not_repeatedly() {
        let slot = Arc::<ReaderSlot>::default();
        let first = slot.lease(None).unwrap();
        assert_eq!(end(&first), None);
        let second = slot.lease(None).unwrap();
        assert_eq!(end(&first), Some(ReaderEnd::Replaced));
        assert_eq!(slot.lease(None).unwrap_err(), TakeoverTooSoon);
        assert_eq!(end(&second), None);
        // The lease of a replaced reader does not free the slot.
        drop(first);
        assert_eq!(slot.lease(None).unwrap_err(), TakeoverTooSoon);
        advance(TAKEOVER_INTERVAL).await;
        let third = slot.lease(None).unwrap();
        assert_eq!(end(&second), Some(ReaderEnd::Replaced));
        // A free slot can be leased at any time.
        drop(third);
        for _ in 0..3 {
            drop(slot.lease(None).unwrap());
        }
        let last = slot.lease(None).unwrap();
        slot.end();
        assert_eq!(end(&last), Some(ReaderEnd::StreamEnded));
    }

    #[test]
    fn stream_ends_for_a_later_one_only() {
        let slot = Arc::<ReaderSlot>::default();
        let second = slot.lease(Some(2)).unwrap();
        slot.end_older(1);
        slot.end_older(2);
        assert_eq!(end(&second), None);
        slot.end_older(4);
        assert_eq!(end(&second), Some(ReaderEnd::StreamEnded));
        drop(second);
        assert_eq!(slot.lease(Some(3)).unwrap_err(), TakeoverTooSoon);
        let fifth = slot.lease(Some(5)).unwrap();
        assert_eq!(end(&fifth), None);
        // A stream without a number ends for each one of another server.
        drop(fifth);
        let unnumbered = slot.lease(None).unwrap();
        slot.end_older(6);
        assert_eq!(end(&unnumbered), Some(ReaderEnd::StreamEnded));
    }
}

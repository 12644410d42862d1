//! The place of a reader: a stream has one, and whoever comes takes it from the one before.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use http::StatusCode;
use mcp_types::codes;
use parking_lot::{Mutex, MutexGuard};
use tokio::time::Instant;

use super::super::refused::Refused;

/// Two live readers must not take the place from each other all the time.
const TAKEOVER_PAUSE: Duration = Duration::from_secs(5);

/// The place of a stream's reader.
///
/// A client whose connection has broken comes again before the server has noticed, so a place that
/// is taken is given to who comes; but only once in a while.
#[derive(Debug, Default)]
pub(in crate::server) struct Place {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// How many readers have come.
    readers: u64,
    /// The last one is still there.
    is_taken: bool,
    last_takeover: Option<Instant>,
    /// What the reader is to do.
    dismissed: Option<Leave>,
    reader: Option<Waker>,
}

/// Why a reader has to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) enum Leave {
    /// Another one has come.
    TakenOver,
    /// There is nothing more to read.
    Ended,
}

/// The last takeover was not long ago: another reader has just come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) struct TooSoon;

impl From<TooSoon> for Refused {
    fn from(_: TooSoon) -> Self {
        Self {
            retry_after: Some(TAKEOVER_PAUSE.as_secs()),
            ..Self::new(
                StatusCode::CONFLICT,
                codes::BAD_REQUEST,
                "another reader has just taken this stream over; read it there, or come back later",
            )
        }
    }
}

impl Place {
    /// A reader comes.
    pub(in crate::server) fn enter(self: &Arc<Self>) -> Result<Seat, TooSoon> {
        let now = Instant::now();
        let mut state = self.state.lock();
        if state.is_taken {
            let last = state.last_takeover;
            if last.is_some_and(|last| now.duration_since(last) < TAKEOVER_PAUSE) {
                return Err(TooSoon);
            }
            state.last_takeover = Some(now);
        }
        state.readers += 1;
        state.is_taken = true;
        state.dismissed = None;
        let number = state.readers;
        Self::wake_reader(state);
        Ok(Seat {
            place: Arc::clone(self),
            number,
        })
    }

    /// Sends the reader away, if there is one.
    pub(in crate::server) fn dismiss(&self, leave: Leave) {
        let mut state = self.state.lock();
        state.dismissed = Some(leave);
        Self::wake_reader(state);
    }

    /// Makes the reader look again.
    pub(in crate::server) fn wake(&self) {
        Self::wake_reader(self.state.lock());
    }

    fn wake_reader(mut state: MutexGuard<'_, State>) {
        let reader = state.reader.take();
        drop(state);
        reader.into_iter().for_each(Waker::wake);
    }
}

/// A reader at its place. It leaves when this is dropped.
#[derive(Debug)]
pub(in crate::server) struct Seat {
    place: Arc<Place>,
    number: u64,
}

impl Seat {
    /// Ready when the reader has to go; else the task is woken then, and by
    /// [`Place::wake`].
    pub(in crate::server) fn poll_dismissed(&self, cx: &Context<'_>) -> Poll<Leave> {
        let mut state = self.place.state.lock();
        if state.readers != self.number {
            return Poll::Ready(Leave::TakenOver);
        }
        if let Some(leave) = state.dismissed {
            return Poll::Ready(leave);
        }
        state.reader = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut state = self.place.state.lock();
        if state.readers == self.number {
            state.is_taken = false;
            state.reader = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::sync::Arc;

    use futures::FutureExt;
    use tokio::time::advance;

    use super::{Leave, Place, Seat, TAKEOVER_PAUSE, TooSoon};

    fn dismissed(seat: &Seat) -> Option<Leave> {
        poll_fn(|cx| seat.poll_dismissed(cx)).now_or_never()
    }

    #[tokio::test(start_paused = true)]
    async fn the_newest_reader_has_the_place_but_not_at_once_again() {
        let place = Arc::<Place>::default();
        let first = place.enter().unwrap();
        assert_eq!(dismissed(&first), None);
        let second = place.enter().unwrap();
        assert_eq!(dismissed(&first), Some(Leave::TakenOver));
        assert_eq!(place.enter().unwrap_err(), TooSoon);
        assert_eq!(dismissed(&second), None);
        // The one that had to go says nothing about the one that is there.
        drop(first);
        assert_eq!(place.enter().unwrap_err(), TooSoon);
        advance(TAKEOVER_PAUSE).await;
        let third = place.enter().unwrap();
        assert_eq!(dismissed(&second), Some(Leave::TakenOver));
        // An empty place is nobody's, however often it changes hands.
        drop(third);
        for _ in 0..3 {
            drop(place.enter().unwrap());
        }
        let last = place.enter().unwrap();
        place.dismiss(Leave::Ended);
        assert_eq!(dismissed(&last), Some(Leave::Ended));
    }
}

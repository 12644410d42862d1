//! A flag with a reason that is set once and that futures can wait for.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use futures_channel::oneshot;
use futures_util::FutureExt;
use futures_util::future::Shared;
use parking_lot::Mutex;

/// A flag with a reason that is set once and that futures can wait for. Clones share the flag.
#[derive(Debug, Clone)]
pub struct CloseSignal<T = ()>(Arc<SignalState<T>>);

#[derive(Debug)]
struct SignalState<T> {
    reason: OnceLock<T>,
    /// Dropped after the reason is set, which ends `closed`.
    sender: Mutex<Option<oneshot::Sender<Infallible>>>,
    closed: Shared<oneshot::Receiver<Infallible>>,
}

impl<T: Clone> CloseSignal<T> {
    /// Sets the flag and wakes all waiting futures. Only the first reason is kept.
    pub fn close(&self, reason: T) {
        self.0.reason.get_or_init(|| reason);
        // Wakes without the lock.
        let sender = self.0.sender.lock().take();
        drop(sender);
    }

    /// Returns the reason, if the flag is set.
    pub fn reason(&self) -> Option<T> {
        self.0.reason.get().cloned()
    }

    /// Returns true if the flag is set.
    pub fn is_closed(&self) -> bool {
        self.0.reason.get().is_some()
    }

    /// Waits until the flag is set.
    pub fn closed(&self) -> Closed<T> {
        Closed {
            signal: self.clone(),
            closed: self.0.closed.clone(),
        }
    }
}

impl<T> Default for CloseSignal<T> {
    fn default() -> Self {
        let (sender, receiver) = oneshot::channel();
        Self(Arc::new(SignalState {
            reason: OnceLock::new(),
            sender: Mutex::new(Some(sender)),
            closed: receiver.shared(),
        }))
    }
}

/// The future of [`CloseSignal::closed`]. Resolves to the reason.
#[derive(Debug)]
pub struct Closed<T = ()> {
    signal: CloseSignal<T>,
    closed: Shared<oneshot::Receiver<Infallible>>,
}

impl<T: Clone> Future for Closed<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        // A future that was ready stays ready.
        if let Some(reason) = self.signal.reason() {
            return Poll::Ready(reason);
        }
        let _ = ready!(self.closed.poll_unpin(cx));
        self.signal.reason().map_or(Poll::Pending, Poll::Ready)
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::CloseSignal;

    #[test]
    fn close_wakes_all_waiting_futures_and_dropped_ones_are_forgotten() {
        let signal = CloseSignal::default();
        let mut cx = Context::from_waker(Waker::noop());
        let mut waiting = pin!(signal.closed());
        assert_eq!(waiting.as_mut().poll(&mut cx), Poll::Pending);
        {
            let mut dropped = pin!(signal.closed());
            assert_eq!(dropped.as_mut().poll(&mut cx), Poll::Pending);
            assert_eq!(dropped.as_mut().poll(&mut cx), Poll::Pending);
            assert_eq!(signal.0.closed.strong_count(), Some(3));
        }
        assert_eq!(signal.0.closed.strong_count(), Some(2));
        assert!(!signal.is_closed());
        signal.close("first");
        signal.close("second");
        assert!(signal.is_closed());
        assert_eq!(signal.reason(), Some("first"));
        assert_eq!(waiting.as_mut().poll(&mut cx), Poll::Ready("first"));
        assert_eq!(pin!(signal.closed()).poll(&mut cx), Poll::Ready("first"));
    }
}

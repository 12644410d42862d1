//! A flag with a reason that is set once and that futures can wait for.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;
use slab::Slab;

/// A flag with a reason that is set once and that futures can wait for. Clones share the flag.
pub struct CloseSignal<T = ()>(Arc<Mutex<SignalState<T>>>);

struct SignalState<T> {
    reason: Option<T>,
    /// One waker per waiting [`Closed`].
    wakers: Slab<Waker>,
}

impl<T: Clone> CloseSignal<T> {
    /// Sets the flag and wakes all waiting futures. Only the first reason is kept.
    pub fn close(&self, reason: T) {
        let mut state = self.0.lock();
        state.reason.get_or_insert(reason);
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        wakers.into_iter().for_each(|(_, waker)| waker.wake());
    }

    /// Returns the reason, if the flag is set.
    pub fn reason(&self) -> Option<T> {
        self.0.lock().reason.clone()
    }

    /// Returns true if the flag is set.
    pub fn is_closed(&self) -> bool {
        self.0.lock().reason.is_some()
    }

    /// Waits until the flag is set.
    pub fn closed(&self) -> Closed<T> {
        Closed {
            signal: self.clone(),
            key: None,
        }
    }
}

impl<T> Default for CloseSignal<T> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(SignalState {
            reason: None,
            wakers: Slab::new(),
        })))
    }
}

impl<T> Clone for CloseSignal<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: fmt::Debug> fmt::Debug for CloseSignal<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CloseSignal")
            .field(&self.0.lock().reason)
            .finish()
    }
}

/// The future of [`CloseSignal::closed`]. Resolves to the reason.
pub struct Closed<T = ()> {
    signal: CloseSignal<T>,
    /// The key of its waker.
    key: Option<usize>,
}

impl<T: Clone> Future for Closed<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let this = &mut *self;
        let mut state = this.signal.0.lock();
        if let Some(reason) = &state.reason {
            return Poll::Ready(reason.clone());
        }
        match this.key.and_then(|key| state.wakers.get_mut(key)) {
            Some(waker) => waker.clone_from(cx.waker()),
            None => this.key = Some(state.wakers.insert(cx.waker().clone())),
        }
        Poll::Pending
    }
}

impl<T> Drop for Closed<T> {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.signal.0.lock().wakers.try_remove(key);
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Closed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Closed").field(&self.signal).finish()
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
            assert_eq!(signal.0.lock().wakers.len(), 2);
        }
        assert_eq!(signal.0.lock().wakers.len(), 1);
        assert!(!signal.is_closed());
        signal.close("first");
        signal.close("second");
        assert!(signal.is_closed());
        assert_eq!(signal.reason(), Some("first"));
        assert_eq!(waiting.as_mut().poll(&mut cx), Poll::Ready("first"));
        assert_eq!(pin!(signal.closed()).poll(&mut cx), Poll::Ready("first"));
    }
}

//! Something that ends once, seen by everybody who has to do with it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;

/// Whether something has ended, and reason. Clones are about the same end.
pub struct CloseSignal<T = ()>(Arc<Mutex<State<T>>>);

struct State<T> {
    reason: Option<T>,
    last: u64,
    /// One per future that waits; each takes itself out.
    waiting: Vec<(u64, Waker)>,
}

impl<T: Clone> CloseSignal<T> {
    /// It ends. The first reason counts.
    pub fn close(&self, reason: T) {
        let mut state = self.0.lock();
        state.reason.get_or_insert(reason);
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        waiting.into_iter().for_each(|(_, waker)| waker.wake());
    }

    /// Why it has ended, if it has.
    pub fn reason(&self) -> Option<T> {
        self.0.lock().reason.clone()
    }

    /// It has ended.
    pub fn is_closed(&self) -> bool {
        self.0.lock().reason.is_some()
    }

    /// Waits for the end.
    pub fn closed(&self) -> Closed<T> {
        Closed {
            signal: self.clone(),
            id: None,
        }
    }
}

impl<T> Default for CloseSignal<T> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(State {
            reason: None,
            last: 0,
            waiting: Vec::new(),
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

/// Waits for an end, and tells its reason.
pub struct Closed<T = ()> {
    signal: CloseSignal<T>,
    id: Option<u64>,
}

impl<T: Clone> Future for Closed<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let this = &mut *self;
        let mut state = this.signal.0.lock();
        if let Some(reason) = &state.reason {
            return Poll::Ready(reason.clone());
        }
        let id = *this.id.get_or_insert_with(|| {
            state.last += 1;
            state.last
        });
        match state.waiting.iter_mut().find(|(known, _)| *known == id) {
            Some((_, waker)) => waker.clone_from(cx.waker()),
            None => state.waiting.push((id, cx.waker().clone())),
        }
        Poll::Pending
    }
}

impl<T> Drop for Closed<T> {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            let mut state = self.signal.0.lock();
            state.waiting.retain(|(known, _)| *known != id);
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
    fn all_who_wait_are_told_and_who_has_gone_is_forgotten() {
        let signal = CloseSignal::default();
        let mut cx = Context::from_waker(Waker::noop());
        let mut one = pin!(signal.closed());
        assert_eq!(one.as_mut().poll(&mut cx), Poll::Pending);
        {
            let mut gone = pin!(signal.closed());
            assert_eq!(gone.as_mut().poll(&mut cx), Poll::Pending);
            assert_eq!(gone.as_mut().poll(&mut cx), Poll::Pending);
            assert_eq!(signal.0.lock().waiting.len(), 2);
        }
        assert_eq!(signal.0.lock().waiting.len(), 1);
        assert!(!signal.is_closed());
        signal.close("first");
        signal.close("second");
        assert!(signal.is_closed());
        assert_eq!(signal.reason(), Some("first"));
        assert_eq!(one.as_mut().poll(&mut cx), Poll::Ready("first"));
        assert_eq!(pin!(signal.closed()).poll(&mut cx), Poll::Ready("first"));
    }
}

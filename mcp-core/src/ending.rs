//! Something that ends once, seen by everybody who has to do with it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use crate::locks::Mutex;

/// Whether something has ended, and why. Clones are about the same end.
pub struct Ending<T = ()>(Arc<Mutex<State<T>>>);

struct State<T> {
    why: Option<T>,
    last: u64,
    /// One per future that waits; each takes itself out.
    waiting: Vec<(u64, Waker)>,
}

impl<T: Clone> Ending<T> {
    /// It ends. The first reason counts.
    pub fn end(&self, why: T) {
        let mut state = self.0.lock();
        state.why.get_or_insert(why);
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        waiting.into_iter().for_each(|(_, waker)| waker.wake());
    }

    /// Why it has ended, if it has.
    pub fn reason(&self) -> Option<T> {
        self.0.lock().why.clone()
    }

    /// It has ended.
    pub fn has_come(&self) -> bool {
        self.0.lock().why.is_some()
    }

    /// Waits for the end.
    pub fn wait(&self) -> Wait<T> {
        Wait {
            ending: self.clone(),
            id: None,
        }
    }
}

impl<T> Default for Ending<T> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(State {
            why: None,
            last: 0,
            waiting: Vec::new(),
        })))
    }
}

impl<T> Clone for Ending<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: fmt::Debug> fmt::Debug for Ending<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ending").field(&self.0.lock().why).finish()
    }
}

/// Waits for an end, and tells its reason.
pub struct Wait<T = ()> {
    ending: Ending<T>,
    id: Option<u64>,
}

impl<T: Clone> Future for Wait<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let this = &mut *self;
        let mut state = this.ending.0.lock();
        if let Some(why) = &state.why {
            return Poll::Ready(why.clone());
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

impl<T> Drop for Wait<T> {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            let mut state = self.ending.0.lock();
            state.waiting.retain(|(known, _)| *known != id);
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Wait<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Wait").field(&self.ending).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::Ending;

    #[test]
    fn all_who_wait_are_told_and_who_has_gone_is_forgotten() {
        let ending = Ending::default();
        let mut cx = Context::from_waker(Waker::noop());
        let mut one = pin!(ending.wait());
        assert_eq!(one.as_mut().poll(&mut cx), Poll::Pending);
        {
            let mut gone = pin!(ending.wait());
            assert_eq!(gone.as_mut().poll(&mut cx), Poll::Pending);
            assert_eq!(gone.as_mut().poll(&mut cx), Poll::Pending);
            assert_eq!(ending.0.lock().waiting.len(), 2);
        }
        assert_eq!(ending.0.lock().waiting.len(), 1);
        assert!(!ending.has_come());
        ending.end("first");
        ending.end("second");
        assert!(ending.has_come());
        assert_eq!(ending.reason(), Some("first"));
        assert_eq!(one.as_mut().poll(&mut cx), Poll::Ready("first"));
        assert_eq!(pin!(ending.wait()).poll(&mut cx), Poll::Ready("first"));
    }
}

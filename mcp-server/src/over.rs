//! The end of a call, for those who wait for it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use mcp_core::locks::Mutex;

/// Happens once: the future of the call is gone, answered or not.
#[derive(Debug, Clone, Default)]
pub(crate) struct Over(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    over: bool,
    next: u64,
    /// One per future that waits; each takes itself out.
    waiting: Vec<(u64, Waker)>,
}

impl Over {
    /// It is over.
    pub(crate) fn end(&self) {
        let mut state = self.0.lock();
        state.over = true;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        waiting.into_iter().for_each(|(_, waker)| waker.wake());
    }

    pub(crate) fn has_come(&self) -> bool {
        self.0.lock().over
    }

    /// Waits for it.
    pub(crate) fn wait(&self) -> Wait {
        Wait {
            over: self.clone(),
            id: None,
        }
    }
}

/// Waits until a call is over.
#[derive(Debug)]
pub(crate) struct Wait {
    over: Over,
    id: Option<u64>,
}

impl Future for Wait {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let mut state = this.over.0.lock();
        if state.over {
            return Poll::Ready(());
        }
        let id = *this.id.get_or_insert_with(|| {
            state.next += 1;
            state.next
        });
        match state.waiting.iter_mut().find(|(known, _)| *known == id) {
            Some((_, waker)) => waker.clone_from(cx.waker()),
            None => state.waiting.push((id, cx.waker().clone())),
        }
        Poll::Pending
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            self.over.0.lock().waiting.retain(|(known, _)| *known != id);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::Over;

    #[test]
    fn all_who_wait_are_told_and_who_has_gone_is_forgotten() {
        let over = Over::default();
        let mut cx = Context::from_waker(Waker::noop());
        let mut one = pin!(over.wait());
        assert_eq!(one.as_mut().poll(&mut cx), Poll::Pending);
        {
            let mut gone = pin!(over.wait());
            assert_eq!(gone.as_mut().poll(&mut cx), Poll::Pending);
            assert_eq!(gone.as_mut().poll(&mut cx), Poll::Pending);
            assert_eq!(over.0.lock().waiting.len(), 2);
        }
        assert_eq!(over.0.lock().waiting.len(), 1);
        assert!(!over.has_come());
        over.end();
        assert!(over.has_come());
        assert_eq!(one.as_mut().poll(&mut cx), Poll::Ready(()));
        assert_eq!(pin!(over.wait()).poll(&mut cx), Poll::Ready(()));
    }
}

//! Something that ends once, seen by everybody who has to do with it.

use std::future::pending;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use mcp_core::{ChannelError, CloseReason, Frame};
use pin_project_lite::pin_project;
use tokio::sync::watch;

/// Whether something has ended, and why. The first reason counts.
#[derive(Debug)]
pub(super) struct Ending<T>(watch::Sender<Option<T>>);

impl<T> Default for Ending<T> {
    fn default() -> Self {
        Self(watch::Sender::new(None))
    }
}

impl<T: Clone> Ending<T> {
    pub(super) fn end(&self, why: T) {
        self.0.send_if_modified(|known| {
            let is_first = known.is_none();
            if is_first {
                *known = Some(why);
            }
            is_first
        });
    }

    pub(super) fn reason(&self) -> Option<T> {
        self.0.borrow().clone()
    }

    /// Waits for the end.
    pub(super) async fn wait(&self) -> T {
        let mut seen = self.0.subscribe();
        let found = seen.wait_for(Option::is_some).await;
        match found.map(|why| why.clone()) {
            Ok(Some(why)) => why,
            // The sender is `self`: it outlives this future.
            _ => pending().await,
        }
    }
}

pin_project! {
    /// The frames of a call, until the channel is closed.
    pub(super) struct UntilClosed<S, C> {
        #[pin]
        frames: S,
        #[pin]
        closed: C,
        done: bool,
    }
}

impl<S, C> UntilClosed<S, C> {
    pub(super) fn new(frames: S, closed: C) -> Self {
        Self {
            frames,
            closed,
            done: false,
        }
    }
}

impl<S, C> Stream for UntilClosed<S, C>
where
    S: Stream<Item = Result<Frame, ChannelError>>,
    C: Future<Output = CloseReason>,
{
    type Item = Result<Frame, ChannelError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.project();
        if *this.done {
            return Poll::Ready(None);
        }
        if let Poll::Ready(reason) = this.closed.poll(cx) {
            *this.done = true;
            return Poll::Ready(Some(Err(ChannelError::Closed(reason))));
        }
        let next = this.frames.poll_next(cx);
        *this.done = matches!(next, Poll::Ready(None));
        next
    }
}

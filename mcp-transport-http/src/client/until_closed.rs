//! The frames of a call until the channel closes.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use mcp_core::{ChannelError, CloseReason, Frame};
use pin_project_lite::pin_project;

pin_project! {
    /// The frames of a call. Ends with [`ChannelError::Closed`] when `closed` resolves.
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

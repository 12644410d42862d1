//! Response bodies: one buffer, two buffers, or an event stream.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use http_body::{Frame, SizeHint};
use tokio::sync::mpsc;

/// Maximum size of a frame with several events.
const MAX_FRAME: usize = 64 * 1024;

#[derive(Debug)]
pub(crate) enum Body {
    /// Two buffers, sent one after the other.
    Parts([Bytes; 2]),
    Events {
        events: mpsc::Receiver<Bytes>,
        coalesce: bool,
    },
}

impl Body {
    pub(crate) fn one(bytes: Bytes) -> Self {
        Self::two(bytes, Bytes::new())
    }

    pub(crate) fn two(first: Bytes, second: Bytes) -> Self {
        Self::Parts([first, second])
    }

    pub(crate) fn events(events: mpsc::Receiver<Bytes>, coalesce: bool) -> Self {
        Self::Events { events, coalesce }
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let data = match &mut *self {
            Self::Parts(parts) => parts
                .iter_mut()
                .find(|part| !part.is_empty())
                .map(std::mem::take),
            Self::Events { events, coalesce } => match ready!(events.poll_recv(context)) {
                Some(first) if *coalesce => Some(drain(first, events)),
                event => event,
            },
        };
        Poll::Ready(data.map(|data| Ok(Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Parts(parts) if parts.iter().all(Bytes::is_empty))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Parts(parts) => {
                SizeHint::with_exact(parts.iter().map(|part| part.len() as u64).sum())
            }
            Self::Events { .. } => SizeHint::default(),
        }
    }
}

/// Joins all ready events into one frame.
fn drain(first: Bytes, events: &mut mpsc::Receiver<Bytes>) -> Bytes {
    let mut frame = BytesMut::from(first);
    while frame.len() < MAX_FRAME
        && let Ok(event) = events.try_recv()
    {
        frame.extend_from_slice(&event);
    }
    frame.freeze()
}

//! [`SseStream`]: decodes the events of a body.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use pin_project_lite::pin_project;

use super::decode::{Decoder, SseError, SseLimits};
use super::event::SseItem;

/// An error of an [`SseStream`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SseStreamError<E> {
    /// Reading the chunks failed.
    #[error("the event stream broke off")]
    Body(#[source] E),
    /// Decoding failed.
    #[error(transparent)]
    Sse(#[from] SseError),
}

pin_project! {
    /// A stream of events, decoded from a stream of chunks such as a response body.
    #[derive(Debug)]
    pub(crate) struct SseStream<S> {
        #[pin]
        chunks: S,
        chunk: Bytes,
        decoder: Decoder,
        done: bool,
    }
}

impl<S> SseStream<S> {
    /// Creates a stream that decodes `chunks`.
    pub(crate) fn new(chunks: S, limits: SseLimits) -> Self {
        Self {
            chunks,
            chunk: Bytes::new(),
            decoder: Decoder::new(limits),
            done: false,
        }
    }

    /// Returns the last event id, see [`Decoder::last_event_id`].
    pub(crate) fn last_event_id(&self) -> &str {
        self.decoder.last_event_id()
    }
}

impl<S, E> Stream for SseStream<S>
where
    S: Stream<Item = Result<Bytes, E>>,
{
    type Item = Result<SseItem, SseStreamError<E>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut this = self.project();
        loop {
            if let Some(item) = this.decoder.decode(this.chunk) {
                return Poll::Ready(Some(item.map_err(SseStreamError::Sse)));
            }
            if *this.done || this.decoder.has_failed() {
                return Poll::Ready(None);
            }
            match ready!(this.chunks.as_mut().poll_next(cx)) {
                Some(Ok(chunk)) => *this.chunk = chunk,
                Some(Err(error)) => {
                    *this.done = true;
                    return Poll::Ready(Some(Err(SseStreamError::Body(error))));
                }
                None => {
                    *this.done = true;
                    return Poll::Ready(None);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::StreamExt as _;
    use futures::executor::block_on;
    use futures::stream::iter;

    use super::*;
    use crate::sse::SseEvent;

    fn message(data: &str) -> SseItem {
        SseItem::Event(SseEvent {
            name: "message".into(),
            data: data.into(),
            id: None,
            retry: None,
        })
    }

    #[test]
    fn sse_stream_yields_events_and_errors_from_its_chunks() {
        let chunks: [Result<Bytes, &str>; 3] = [
            Ok("data: a\n\ndata".into()),
            Ok(": b\n\ndata: c".into()),
            Err("reset"),
        ];
        let items: Vec<_> =
            block_on(SseStream::new(iter(chunks), SseLimits::default()).collect::<Vec<_>>());
        assert_eq!(
            items,
            [
                Ok(message("a")),
                Ok(message("b")),
                Err(SseStreamError::Body("reset"))
            ]
        );
        let small = SseLimits {
            event: 64,
            idle: 64,
        };
        let noise = iter([
            Ok::<_, &str>(Bytes::from(":".repeat(100))),
            Ok("data: a\n\n".into()),
        ]);
        let items: Vec<_> = block_on(SseStream::new(noise, small).collect::<Vec<_>>());
        assert_eq!(
            items,
            [Err(SseError::TooLongWithoutEvent { limit: 64 }.into())]
        );
    }
}

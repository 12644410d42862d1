//! Requests of an HTTP client, whose exchanges go to the history.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};
use mcp::core::ChannelError;
use mcp::http::client::{ChannelService, HttpBody};
use mcp::http::sse::{Decoder, SseLimits};
use tower_service::Service as _;

use super::exchanges::{Exchanges, ObservedExchange, is_stream};

/// Largest event whose head is shown, in bytes: 4 MiB.
const MAX_EVENT: usize = 4 << 20;

/// Sends a request. It and its response go to the history.
pub(super) async fn send(
    mut http: ChannelService,
    request: Request<Bytes>,
    exchanges: Arc<Exchanges>,
) -> Result<Response<ObservedBody>, ChannelError> {
    let exchange = exchanges.started(&request);
    let response = match http.call(request).await {
        Ok(response) => response,
        Err(error) => {
            exchanges.failed(&exchange);
            return Err(error);
        }
    };
    exchanges.answered(&exchange, &response);
    let mut limits = SseLimits::default();
    limits.event = MAX_EVENT;
    let stream = is_stream(response.headers()).then(|| ObservedStream {
        decoder: Decoder::new(limits),
        exchanges,
        exchange,
    });
    Ok(response.map(|inner| ObservedBody { inner, stream }))
}

/// An observed response body.
#[derive(Debug)]
pub(crate) struct ObservedBody {
    inner: HttpBody,
    /// `None` for other bodies, and after an event that cannot be read.
    stream: Option<ObservedStream>,
}

/// A second decoder for an event stream: its events have ids and times to wait beside their messages.
#[derive(Debug)]
struct ObservedStream {
    decoder: Decoder,
    exchanges: Arc<Exchanges>,
    exchange: ObservedExchange,
}

impl ObservedStream {
    /// Returns false after a malformed event.
    fn read(&mut self, mut chunk: Bytes) -> bool {
        while let Some(item) = self.decoder.decode(&mut chunk) {
            let Ok(item) = item else {
                return false;
            };
            self.exchanges.streamed(&self.exchange, item);
        }
        true
    }
}

impl Body for ObservedBody {
    type Data = Bytes;
    type Error = ChannelError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ChannelError>>> {
        let frame = ready!(Pin::new(&mut self.inner).poll_frame(cx));
        if let Some(Ok(frame)) = &frame
            && let (Some(chunk), Some(stream)) = (frame.data_ref(), &mut self.stream)
            && !stream.read(chunk.clone())
        {
            self.stream = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

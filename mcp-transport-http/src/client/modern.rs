//! One call of the modern era: one POST, answered by JSON or by a stream of events.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http>

use std::sync::Arc;

use futures_core::Stream;
use futures_util::{StreamExt, TryStreamExt, future, stream};
use http::{HeaderMap, Method, StatusCode};
use mcp_core::{ChannelError, Frame, OutgoingRequest};

use super::answer::{self, Answer};
use super::requests::{Http, Unsent};
use crate::headers::{emit, names};
use crate::sse::{SseItem, SseStreamError};

/// Sends the call when first polled; dropping the stream closes the POST.
// spec: HTTP-C-07, HTTP-SM-15
pub(super) fn frames(
    http: Arc<Http>,
    out: OutgoingRequest,
) -> impl Stream<Item = Result<Frame, ChannelError>> + Send {
    stream::once(async move {
        let response = http.send(request(&http, &out)).await?;
        let status = response.status();
        let frames = match answer::read(response, &http).await? {
            // The caller knows whether an answer was due.
            Answer::Nothing => stream::iter(None).left_stream(),
            Answer::Message(frame) => stream::iter(Some(Ok(frame))).left_stream(),
            Answer::Events(events) => events
                .filter_map(move |item| future::ready(message(item, status).transpose()))
                .right_stream(),
        };
        Ok::<_, ChannelError>(frames)
    })
    .try_flatten()
}

/// The POST that carries a call.
// spec: HTTP-C-01, HTTP-C-02, HTTP-C-04, HTTP-C-05
fn request<'a>(http: &'a Http, out: &'a OutgoingRequest) -> Unsent<'a> {
    let mut protocol = HeaderMap::with_capacity(8);
    protocol.insert(names::ACCEPT, names::ACCEPT_BOTH);
    protocol.insert(names::CONTENT_TYPE, names::JSON);
    emit(&out.mirrored, &mut protocol);
    Unsent {
        method: Method::POST,
        uri: &http.endpoint.uri,
        body: out.body.clone(),
        caller: &out.headers,
        protocol,
    }
}

/// The message of an event; `None` for events that carry none.
// spec: HTTP-C-08, HTTP-S-11
fn message(
    item: Result<SseItem, SseStreamError<ChannelError>>,
    status: StatusCode,
) -> Result<Option<Frame>, ChannelError> {
    match item.map_err(answer::failed)? {
        SseItem::Event(event) if event.name == answer::MESSAGE_EVENT && !event.data.is_empty() => {
            Ok(Some(Frame::new(event.data).status(status)))
        }
        SseItem::Event(_) | SseItem::Retry(_) => Ok(None),
    }
}

#[cfg(test)]
mod tests;

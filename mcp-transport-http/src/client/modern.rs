//! A call of the stateless revision 2026-07-28: one POST, answered by JSON or an event stream.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http>

use std::sync::Arc;

use futures_core::Stream;
use futures_util::{StreamExt, TryStreamExt, future, stream};
use http::{HeaderMap, StatusCode};
use mcp_core::{ChannelError, Frame, OneWayMessage, OutgoingRequest};

use super::request::{RequestParts, RequestSender};
use super::response::{self, ResponseBody};
use crate::headers::emit;
use crate::sse::{SseItem, SseStreamError};

/// Returns the frames of a call. The request is sent when the stream is first polled. Dropping the
/// stream closes the POST.
// spec: HTTP-C-01, HTTP-C-04, HTTP-C-05, HTTP-C-07
pub(super) fn frames(
    http: Arc<RequestSender>,
    out: OutgoingRequest,
) -> impl Stream<Item = Result<Frame, ChannelError>> + Send {
    stream::once(async move {
        let protocol = |headers: &mut HeaderMap| emit(&out.mirrored, headers);
        let uri = &http.server_url.uri;
        let post = RequestParts::post(uri, out.body, &out.headers, &protocol);
        let response = http.send(post).await?;
        let status = response.status();
        let frames = match response::read(response, &http).await? {
            // The caller reports the missing response.
            ResponseBody::Empty => stream::iter(None).left_stream(),
            ResponseBody::Message(frame) => stream::iter(Some(Ok(frame))).left_stream(),
            ResponseBody::Events(events) => events
                .filter_map(move |item| future::ready(message(item, status).transpose()))
                .right_stream(),
        };
        Ok::<_, ChannelError>(frames)
    })
    .try_flatten()
}

/// Sends a notification, and waits until the server accepts it.
pub(super) async fn notify(
    http: Arc<RequestSender>,
    out: OneWayMessage,
) -> Result<(), ChannelError> {
    let protocol = |headers: &mut HeaderMap| emit(&out.mirrored, headers);
    let post = RequestParts::post(&http.server_url.uri, out.body, &out.headers, &protocol);
    response::check_accepted(http.send(post).await?, &http).await
}

/// Returns the message of an event, or `None` for events without one.
// spec: HTTP-S-11
fn message(
    item: Result<SseItem, SseStreamError<ChannelError>>,
    status: StatusCode,
) -> Result<Option<Frame>, ChannelError> {
    match item.map_err(response::stream_error)? {
        SseItem::Event(event)
            if event.name == response::MESSAGE_EVENT && !event.data.is_empty() =>
        {
            Ok(Some(response::frame(event.data, status)))
        }
        SseItem::Event(_) | SseItem::Retry(_) => Ok(None),
    }
}

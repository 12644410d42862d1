//! HTTP+SSE of 2024-11-05: one event stream for all messages of the server, and a second URL for
//! messages to the server.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse>

use std::time::Duration;

use futures_util::StreamExt;
use http::{HeaderMap, StatusCode, Uri};
use mcp_core::{ChannelError, CloseReason};
use tokio::time::timeout;

use super::session::Session;
use crate::client::request::{RequestParts, RequestSender};
use crate::client::response::{self, ResponseBody, ResponseEvents};
use crate::sse::{SseError, SseItem, SseStreamError};

/// The name of the first event. Its data is the URL for messages to the server.
const ENDPOINT_EVENT: &str = "endpoint";
/// Timeout of the first event.
const ENDPOINT_TIMEOUT: Duration = Duration::from_secs(10);

/// Opens the stream and waits for its first event. Returns `None` when the server offers no such
/// stream.
// spec: COMPAT-13
pub(super) async fn open(
    http: &RequestSender,
    call_headers: &HeaderMap,
) -> Result<Option<(Uri, ResponseEvents)>, ChannelError> {
    let parts = RequestParts::get(&http.server_url.uri, call_headers, &|_| {});
    let first = async {
        let response = http.send(parts).await.ok()?;
        if !response.status().is_success() {
            return None;
        }
        let Ok(ResponseBody::Events(mut events)) = response::read(response, http).await else {
            return None;
        };
        loop {
            match events.next().await? {
                Ok(SseItem::Event(event)) if event.name == ENDPOINT_EVENT => {
                    return Some((event.data, events));
                }
                Ok(SseItem::Retry(_)) => {}
                // The stream of another protocol.
                Ok(SseItem::Event(_)) | Err(_) => return None,
            }
        }
    };
    match timeout(ENDPOINT_TIMEOUT, first).await {
        Ok(Some((endpoint, events))) => Ok(Some((http.server_url.message_uri(&endpoint)?, events))),
        Ok(None) | Err(_) => Ok(None),
    }
}

/// Reads the stream to its end, and then closes the channel.
// spec: SSE-04
pub(super) async fn read(session: &Session, mut events: ResponseEvents) {
    let reason = loop {
        match events.next().await {
            Some(Ok(SseItem::Event(event))) => {
                if event.name == response::MESSAGE_EVENT && !event.data.is_empty() {
                    let frame = response::frame(event.data, StatusCode::OK);
                    session.deliver(None, frame).await;
                }
            }
            Some(Ok(SseItem::Retry(_)) | Err(SseStreamError::Sse(SseError::NotUtf8))) => {}
            Some(Err(error)) => {
                break CloseReason::broken(response::stream_error(error));
            }
            None => break CloseReason::Remote,
        }
    };
    session.closing.close(reason);
}

//! HTTP+SSE of 2024-11-05: one stream for all that the server says, another URL for what it hears.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse>

use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use http::{HeaderMap, Method, StatusCode, Uri};
use mcp_core::{ChannelError, CloseReason, Frame};
use tokio::time::timeout;

use super::session::Session;
use crate::client::answer::{self, Answer, Events};
use crate::client::requests::{Http, Unsent};
use crate::headers::names;
use crate::sse::{SseError, SseItem, SseStreamError};

/// The first event, whose data is the URL for messages.
const ENDPOINT_EVENT: &str = "endpoint";
/// How long the server may take to send it.
const ENDPOINT_TIMEOUT: Duration = Duration::from_secs(10);

/// Asks for the stream and waits for its first event; `None` when the server has no such stream.
// spec: COMPAT-13, SSE-01, SSE-02
pub(super) async fn open(
    http: &Http,
    caller: &HeaderMap,
) -> Result<Option<(Uri, Events)>, ChannelError> {
    let mut protocol = HeaderMap::new();
    protocol.insert(names::ACCEPT, names::EVENT_STREAM);
    let unsent = Unsent {
        method: Method::GET,
        uri: &http.endpoint.uri,
        body: Bytes::new(),
        caller,
        protocol,
    };
    let first = async {
        let response = http.send(unsent).await.ok()?;
        if !response.status().is_success() {
            return None;
        }
        let Ok(Answer::Events(mut events)) = answer::read(response, http).await else {
            return None;
        };
        loop {
            match events.next().await? {
                Ok(SseItem::Event(event)) if event.name == ENDPOINT_EVENT => {
                    return Some((event.data, events));
                }
                Ok(SseItem::Retry(_)) => {}
                // Another kind of stream.
                Ok(SseItem::Event(_)) | Err(_) => return None,
            }
        }
    };
    match timeout(ENDPOINT_TIMEOUT, first).await {
        Ok(Some((endpoint, events))) => Ok(Some((http.endpoint.messages(&endpoint)?, events))),
        Ok(None) | Err(_) => Ok(None),
    }
}

/// Reads the stream to its end, which is that of the connection.
// spec: SSE-04
pub(super) async fn read(session: &Session, mut events: Events) {
    let reason = loop {
        match events.next().await {
            Some(Ok(SseItem::Event(event))) => {
                if event.name == answer::MESSAGE_EVENT && !event.data.is_empty() {
                    let frame = Frame::new(event.data).status(StatusCode::OK);
                    session.deliver(None, frame).await;
                }
            }
            Some(Ok(SseItem::Retry(_)) | Err(SseStreamError::Sse(SseError::NotUtf8))) => {}
            Some(Err(error)) => break CloseReason::Broken(answer::failed(error).to_string()),
            None => break CloseReason::Remote,
        }
    };
    session.closing.close(reason);
}

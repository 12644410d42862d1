//! Batches of messages (2025-03-26). Each message is answered separately, and the responses are
//! joined.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-03-26/basic/transports>

use bytes::Bytes;
use futures_util::future::join_all;
use futures_util::stream::{self, StreamExt, select_all};
use http::{Response, StatusCode};
use mcp_core::BoxFuture;
use mcp_core::wire::batch::Answers;
use mcp_core::wire::{EncodedReply, Wire};
use mcp_types::ParseError;

use super::super::response::{self, Body};
use crate::sse::encode as sse;

/// Response to one message of a batch.
pub(super) type BatchResponse<'a> = BoxFuture<'a, Response<Body>>;

/// Returns the response to an element of a batch that is not a message.
pub(super) fn parse_error(error: ParseError, wire: &dyn Wire) -> BatchResponse<'static> {
    let id = error.id().cloned();
    let response = response::error(StatusCode::OK, wire, id.as_ref(), &error.into());
    Box::pin(std::future::ready(response))
}

/// Waits for all responses and joins them: into an event stream when one of them is an event stream,
/// else into a JSON array.
pub(super) async fn join(responses: Vec<BatchResponse<'_>>) -> Response<Body> {
    let (mut messages, mut streams) = (Vec::new(), Vec::new());
    for response in join_all(responses).await {
        let is_json = response::is_json(&response);
        match response.into_body().into_bytes() {
            Ok(message) if is_json => messages.push(message),
            Ok(events) => {
                let events: Bytes = events.into();
                streams.push(stream::once(std::future::ready(events)).boxed());
            }
            Err(events) => streams.push(events),
        }
    }
    if !streams.is_empty() {
        let first: Vec<u8> = messages
            .iter()
            .flat_map(|message| sse::message_event(message))
            .collect();
        let first = stream::once(std::future::ready(Bytes::from(first)));
        let events = first.chain(select_all(streams));
        let events = events.filter(|frame| std::future::ready(!frame.is_empty()));
        return response::events(events);
    }
    let mut answers = Answers::new();
    for message in &messages {
        answers.push(message);
    }
    match answers.into_text() {
        Some(json) => {
            let mut message = EncodedReply::default();
            message.head = json;
            response::json(StatusCode::OK, message)
        }
        None => response::accepted(),
    }
}

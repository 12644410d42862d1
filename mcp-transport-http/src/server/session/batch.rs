//! Batches of messages (2025-03-26). Each message is answered separately, and the responses are
//! joined.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-03-26/basic/transports>

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::join_all;
use futures_util::stream::{self, StreamExt, select_all};
use http::request::Parts;
use http::{Response, StatusCode};
use mcp_core::legacy::{HandledRequest, read_batch, read_stateless};
use mcp_core::wire::EncodedReply;
use mcp_core::{BoxFuture, ClientContext, ClientRequest, Extensions, Fault, Service};
use mcp_types::{Message, ParseError, ProtocolVersion};

use super::super::request::rejection::Rejection;
use super::super::response::{self, Body};
use crate::sse::encode as sse;

/// Response to one message of a batch.
pub(super) type BatchResponse<'a> = BoxFuture<'a, Response<Body>>;

/// Reads the messages of a batch, and checks the scopes of all its calls. One call that its caller may not make
/// refuses the batch, because the response to a batch has one status. `facts` describe the client of a session.
///
/// # Errors
///
/// Returns a rejection when the batch is invalid, or with the scopes that the calls need together.
// spec: AUTH-S-08
pub(super) fn read<'m>(
    body: &'m [u8],
    version: ProtocolVersion,
    service: &dyn Service,
    facts: Option<&Arc<ClientContext>>,
    head: Box<Parts>,
) -> Result<Vec<Result<Message<'m>, ParseError>>, Rejection> {
    let messages = read_batch(body, version)
        .map_err(|fault| Rejection::legacy(StatusCode::BAD_REQUEST, None, fault))?;
    let (profile, extensions) = (service.profile(), Extensions::from(head));
    let mut missing: Option<Vec<String>> = None;
    for message in &messages {
        let Ok(Message::Request(request)) = message else {
            continue;
        };
        let Ok(HandledRequest::Call(inbound)) = read_stateless(request, version, &profile) else {
            continue;
        };
        let ClientRequest::Call(call) = inbound.request else {
            continue;
        };
        let facts = facts.unwrap_or(&inbound.facts);
        let call = service.replacement(&call).unwrap_or(call);
        if let Err(Fault::InsufficientScope { required }) = service.admit(&call, facts, &extensions)
        {
            let all = missing.get_or_insert_default();
            let further = required.into_iter().filter(|scope| !all.contains(scope));
            all.extend(further.collect::<Vec<_>>());
        }
    }
    match missing {
        None => Ok(messages),
        Some(required) => {
            let fault = Fault::InsufficientScope { required };
            Err(Rejection::new(version, StatusCode::FORBIDDEN, None, fault))
        }
    }
}

/// Returns the response to an element of a batch that is not a message.
pub(super) fn parse_error(error: ParseError, version: ProtocolVersion) -> BatchResponse<'static> {
    let id = error.id().cloned();
    let response = response::error(StatusCode::OK, version, id.as_ref(), &error.into());
    Box::pin(std::future::ready(response))
}

/// Waits for all responses and joins them: into an event stream when one of them is an event stream,
/// else into a JSON array. Accepted notifications have no part in it.
// spec: HTTP-S-07
pub(super) async fn join(responses: Vec<BatchResponse<'_>>) -> Response<Body> {
    let (mut messages, mut streams) = (Vec::new(), Vec::new());
    for response in join_all(responses).await {
        if response.status() == StatusCode::ACCEPTED {
            continue;
        }
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
    if messages.is_empty() {
        return response::accepted();
    }
    let mut array = EncodedReply::default();
    array.head = to_array(&messages);
    response::json(StatusCode::OK, array)
}

/// Returns the responses as one JSON array.
fn to_array(messages: &[impl AsRef<[u8]>]) -> Vec<u8> {
    let mut array = vec![b'['];
    for (index, message) in messages.iter().enumerate() {
        if index > 0 {
            array.push(b',');
        }
        array.extend_from_slice(message.as_ref());
    }
    array.push(b']');
    array
}

#[cfg(test)]
mod tests {
    #[test]
    fn responses_are_joined_to_one_array() {
        assert_eq!(super::to_array(&["{}"]), b"[{}]");
        assert_eq!(super::to_array(&["{}", "{\"a\":1}"]), b"[{},{\"a\":1}]");
    }
}

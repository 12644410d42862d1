//! Responses: one JSON message, a stream of events, or nothing.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::HeaderValue;
use http::{Response, StatusCode};
use http_body::{Frame, SizeHint};
use mcp_core::Fault;
use mcp_core::wire::{Encoded, MODERN};
use mcp_types::RequestId;

use super::guard::Refusal;
use super::stream::Events;
use crate::headers::names;
use crate::status;

/// The body of a response from [`StreamableHttp`](super::StreamableHttp).
///
/// Dropping the body of an event stream cancels the call that it belongs to.
#[derive(Debug)]
pub struct Body(Kind);

#[derive(Debug)]
enum Kind {
    /// What is there already, in up to three pieces: the middle one of a list is shared by all
    /// answers and not copied.
    Full([Bytes; 3]),
    Events(Box<Events>),
}

impl Body {
    fn empty() -> Self {
        Self(Kind::Full(Default::default()))
    }

    fn full(text: Encoded) -> Self {
        Self(Kind::Full([
            text.head.into(),
            text.shared,
            text.tail.into(),
        ]))
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let data = match &mut self.0 {
            Kind::Full(pieces) => Poll::Ready(
                pieces
                    .iter_mut()
                    .find(|piece| !piece.is_empty())
                    .map(std::mem::take),
            ),
            Kind::Events(events) => events.poll_data(cx),
        };
        data.map(|data| data.map(|data| Ok(Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Kind::Full(pieces) => pieces.iter().all(Bytes::is_empty),
            Kind::Events(events) => events.is_done(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Full(pieces) => {
                SizeHint::with_exact(pieces.iter().map(|piece| piece.len() as u64).sum())
            }
            Kind::Events(_) => SizeHint::default(),
        }
    }
}

/// The answer as a single JSON message.
// spec: HTTP-S-08
pub(super) fn json(status: StatusCode, text: Encoded) -> Response<Body> {
    respond(status, Body::full(text), names::JSON)
}

/// A stream whose events are all known.
pub(super) fn finished_events(text: Encoded) -> Response<Body> {
    with_event_headers(Body::full(text))
}

/// A stream whose events are still to come.
pub(super) fn events(events: Events) -> Response<Body> {
    with_event_headers(Body(Kind::Events(Box::new(events))))
}

/// What a notification gets.
// spec: HTTP-S-07
pub(super) fn accepted() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::ACCEPTED;
    response
}

/// The answer to a request that does not get to a service.
pub(super) fn fault(id: Option<&RequestId>, fault: &Fault) -> Response<Body> {
    error(status::of_refusal(fault), id, fault)
}

/// The answer to a request whose head or body was turned away.
// spec: HTTP-S-03, HTTP-S-10
pub(super) fn refusal(refusal: Refusal) -> Response<Body> {
    let mut response = error(
        refusal.status,
        None,
        &Fault::InvalidRequest(refusal.message.into()),
    );
    if let Some(allow) = refusal.allow {
        response.headers_mut().insert(names::ALLOW, allow);
    }
    response
}

fn error(status: StatusCode, id: Option<&RequestId>, fault: &Fault) -> Response<Body> {
    let mut text = Encoded::default();
    MODERN.encode_error(fault, id, &mut text.head);
    json(status, text)
}

// spec: HTTP-S-12
fn with_event_headers(body: Body) -> Response<Body> {
    let mut response = respond(StatusCode::OK, body, names::EVENT_STREAM);
    response
        .headers_mut()
        .insert(names::CACHE_CONTROL, names::NO_STORE);
    response
        .headers_mut()
        .insert(names::X_ACCEL_BUFFERING, names::NO);
    response
}

fn respond(status: StatusCode, body: Body, content_type: HeaderValue) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(names::CONTENT_TYPE, content_type);
    response
}

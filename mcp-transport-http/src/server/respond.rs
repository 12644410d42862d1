//! Responses: one JSON message, a stream of events, or nothing.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::HeaderValue;
use http::{Response, StatusCode};
use http_body::{Frame, SizeHint};
use mcp_core::wire::{Encoded, MODERN, Wire};
use mcp_core::{Fault, spare_headers};
use mcp_types::RequestId;

use super::guard::Refusal;
use super::stream::Events;
use crate::headers::names;
use crate::status;

/// The body of a response from [`StreamableHttp`](super::StreamableHttp).
///
/// Dropping the body of an event stream cancels the call that it belongs to.
pub struct Body(Kind);

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.0 {
            Kind::Full(_) | Kind::Pieces(_) => "Body(full)",
            Kind::Events(_) | Kind::Live(_) => "Body(events)",
        })
    }
}

enum Kind {
    /// What is there already.
    Full(Bytes),
    /// The same in pieces: the middle one of a list is shared by all answers and not copied.
    Pieces(Box<[Bytes; 3]>),
    Events(Box<Events>),
    /// What a session has to tell.
    Live(Box<dyn EventSource>),
}

/// Where the frames of a stream come from.
pub(super) trait EventSource: Send + Sync {
    /// The next ones.
    fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>>;

    /// There are no more.
    fn is_done(&self) -> bool;
}

impl From<Bytes> for Body {
    fn from(text: Bytes) -> Self {
        Self(Kind::Full(text))
    }
}

impl Body {
    fn empty() -> Self {
        Self(Kind::Full(Bytes::new()))
    }

    /// What is there of it already.
    pub(super) fn whole(&self) -> Vec<u8> {
        match &self.0 {
            Kind::Full(text) => text.to_vec(),
            Kind::Pieces(pieces) => pieces.concat(),
            Kind::Events(_) | Kind::Live(_) => Vec::new(),
        }
    }

    /// Takes the next frame.
    pub(super) fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        match &mut self.0 {
            Kind::Full(text) => Poll::Ready(Some(std::mem::take(text)).filter(|it| !it.is_empty())),
            Kind::Pieces(pieces) => {
                let next = pieces.iter_mut().find(|piece| !piece.is_empty());
                Poll::Ready(next.map(std::mem::take))
            }
            Kind::Events(events) => events.poll_data(cx),
            Kind::Live(source) => source.poll_data(cx),
        }
    }

    fn full(text: Encoded) -> Self {
        if text.shared.is_empty() && text.tail.is_empty() {
            return Self(Kind::Full(text.head.into()));
        }
        let pieces = [text.head.into(), text.shared, text.tail.into()];
        Self(Kind::Pieces(Box::new(pieces)))
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let data = self.poll_data(cx);
        data.map(|data| data.map(|data| Ok(Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Kind::Full(text) => text.is_empty(),
            Kind::Pieces(pieces) => pieces.iter().all(Bytes::is_empty),
            Kind::Events(events) => events.is_done(),
            Kind::Live(source) => source.is_done(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Full(text) => SizeHint::with_exact(text.len() as u64),
            Kind::Pieces(pieces) => {
                SizeHint::with_exact(pieces.iter().map(|piece| piece.len() as u64).sum())
            }
            Kind::Events(_) | Kind::Live(_) => SizeHint::default(),
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

/// The response is a message, and no stream.
pub(super) fn is_message(response: &Response<Body>) -> bool {
    response.headers().get(names::CONTENT_TYPE) == Some(&names::JSON)
}

/// A stream whose events are still to come.
pub(super) fn events(events: Events) -> Response<Body> {
    with_event_headers(Body(Kind::Events(Box::new(events))))
}

/// A stream of a session.
pub(super) fn live_events(source: Box<dyn EventSource>) -> Response<Body> {
    with_event_headers(Body(Kind::Live(source)))
}

/// What a notification gets.
// spec: HTTP-S-07
pub(super) fn accepted() -> Response<Body> {
    nothing(StatusCode::ACCEPTED)
}

/// A status that says everything.
pub(super) fn nothing(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

/// A stream that says nothing: its client has cancelled the call.
// spec: CAN-04
pub(super) fn no_events() -> Response<Body> {
    with_event_headers(Body::empty())
}

/// The answer to a request that does not get to a service.
#[cold]
pub(super) fn fault(wire: &dyn Wire, id: Option<&RequestId>, fault: &Fault) -> Response<Body> {
    error(status::of_refusal(fault), wire, id, fault)
}

/// The answer to a request whose head or body was turned away.
// spec: HTTP-S-03, HTTP-S-10
#[cold]
pub(super) fn refusal(refusal: Refusal) -> Response<Body> {
    let mut response = error(
        refusal.status,
        MODERN,
        None,
        &Fault::InvalidRequest(refusal.message.into()),
    );
    if let Some(allow) = refusal.allow {
        response.headers_mut().insert(names::ALLOW, allow);
    }
    response
}

/// An error as the answer, with a status of its own.
#[cold]
pub(super) fn error(
    status: StatusCode,
    wire: &dyn Wire,
    id: Option<&RequestId>,
    fault: &Fault,
) -> Response<Body> {
    let mut text = Encoded::default();
    wire.encode_error(fault, id, &mut text.head);
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
    let mut headers = spare_headers();
    headers.insert(names::CONTENT_TYPE, content_type);
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

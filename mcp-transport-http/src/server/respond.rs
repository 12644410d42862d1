//! Responses: one JSON message, a stream of events, or nothing.

use std::cell::Cell;
use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use http_body::{Frame, SizeHint};
use mcp_core::Fault;
use mcp_core::wire::{EncodedReply, MODERN, Wire};
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

    fn full(text: EncodedReply) -> Self {
        if text.shared.is_empty() && text.tail.is_empty() {
            return Self(Kind::Full(whole(text.head)));
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

/// The most bytes of a text that is copied, and of the room that is kept for the next one.
const SHORT: usize = 1024;

thread_local! {
    static ROOM: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Room for the text of an answer: that of the last short one.
pub(super) fn room() -> Vec<u8> {
    ROOM.take()
}

/// A short text gets just the room that it needs, and leaves its own to the next one.
fn whole(mut text: Vec<u8>) -> Bytes {
    if text.capacity() > SHORT {
        return text.into();
    }
    let short = Bytes::copy_from_slice(&text);
    text.clear();
    // A thread that ends keeps nothing.
    let _ = ROOM.try_with(|room| room.set(text));
    short
}

/// What a request gets, before it is a response. It goes through many hands, and is smaller.
#[derive(Debug)]
pub(super) struct Answer {
    status: StatusCode,
    form: Form,
    pub(super) body: Body,
    /// The id of the session that it names.
    session: Option<HeaderValue>,
    /// A header that hardly any has.
    more: Option<Box<(HeaderName, HeaderValue)>>,
}

/// What a body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// One message.
    Json,
    Events,
    Nothing,
}

impl Answer {
    fn new(status: StatusCode, form: Form, body: Body) -> Self {
        Self {
            status,
            form,
            body,
            session: None,
            more: None,
        }
    }

    /// Names its session.
    // spec: SESS-01
    pub(super) fn naming(mut self, session: Option<HeaderValue>) -> Self {
        self.session = session;
        self
    }

    /// Sets another header.
    #[cold]
    pub(super) fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.more = Some(Box::new((name, value)));
        self
    }

    /// It is a message, and no stream.
    pub(super) fn is_message(&self) -> bool {
        self.form == Form::Json
    }

    /// The response.
    // spec: HTTP-S-12
    pub(super) fn into_response(self) -> Response<Body> {
        let mut headers = HeaderMap::new();
        match self.form {
            Form::Json => drop(headers.insert(names::CONTENT_TYPE, names::JSON)),
            Form::Events => {
                headers.insert(names::CONTENT_TYPE, names::EVENT_STREAM);
                headers.insert(names::CACHE_CONTROL, names::NO_STORE);
                headers.insert(names::X_ACCEL_BUFFERING, names::NO);
            }
            Form::Nothing => {}
        }
        if let Some(id) = self.session {
            headers.insert(names::MCP_SESSION_ID, id);
        }
        if let Some((name, value)) = self.more.map(|more| *more) {
            headers.insert(name, value);
        }
        let mut response = Response::new(self.body);
        *response.status_mut() = self.status;
        *response.headers_mut() = headers;
        response
    }
}

/// The answer as a single JSON message.
// spec: HTTP-S-08
pub(super) fn json(status: StatusCode, text: EncodedReply) -> Answer {
    Answer::new(status, Form::Json, Body::full(text))
}

/// A stream whose events are all known.
pub(super) fn finished_events(text: EncodedReply) -> Answer {
    Answer::new(StatusCode::OK, Form::Events, Body::full(text))
}

/// A stream whose events are still to come.
pub(super) fn events(events: Events) -> Answer {
    let body = Body(Kind::Events(Box::new(events)));
    Answer::new(StatusCode::OK, Form::Events, body)
}

/// A stream of a session.
pub(super) fn live_events(source: Box<dyn EventSource>) -> Answer {
    Answer::new(StatusCode::OK, Form::Events, Body(Kind::Live(source)))
}

/// A stream that says nothing: its client has cancelled the call.
// spec: CAN-04
pub(super) fn no_events() -> Answer {
    Answer::new(StatusCode::OK, Form::Events, Body::empty())
}

/// What a notification gets.
// spec: HTTP-S-07
pub(super) fn accepted() -> Answer {
    nothing(StatusCode::ACCEPTED)
}

/// A status that says everything.
pub(super) fn nothing(status: StatusCode) -> Answer {
    Answer::new(status, Form::Nothing, Body::empty())
}

/// The answer to a request that does not get to a service.
#[cold]
pub(super) fn fault(wire: &dyn Wire, id: Option<&RequestId>, fault: &Fault) -> Answer {
    error(status::of_refusal(fault), wire, id, fault)
}

/// The answer to a request whose head or body was turned away.
// spec: HTTP-S-03, HTTP-S-10
#[cold]
pub(super) fn refusal(refusal: Refusal) -> Answer {
    let fault = Fault::InvalidRequest(refusal.message.into());
    let answer = error(refusal.status, MODERN, None, &fault);
    match refusal.allow {
        Some(allow) => answer.with(names::ALLOW, allow),
        None => answer,
    }
}

/// An error as the answer, with a status of its own.
#[cold]
pub(super) fn error(
    status: StatusCode,
    wire: &dyn Wire,
    id: Option<&RequestId>,
    fault: &Fault,
) -> Answer {
    let mut text = EncodedReply::default();
    wire.encode_error(fault, id, &mut text.head);
    json(status, text)
}

//! Responses: a JSON message, an event stream, or a status alone.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;
use futures_util::StreamExt;
use http::{HeaderValue, Response, StatusCode, request};
use http_body::{Frame, SizeHint};
use mcp_core::wire::EncodedReply;
use mcp_core::{Fault, LogLimit, RequiredScopes};
use mcp_types::{ProtocolVersion, RequestId};
use tokio::time::Instant;

use crate::headers::names;

/// Body of a response from [`StreamableHttp`](super::StreamableHttp).
///
/// Dropping the body of an event stream cancels its call (modern requests only).
pub struct Body(Content);

enum Content {
    /// Complete body in one piece.
    Full(Bytes),
    /// Complete body in several pieces. The JSON of a list is a piece that responses share.
    Chunks(VecDeque<Bytes>),
    /// Event stream.
    Stream(Events),
}

/// The frames of an event stream.
pub(super) type Events = Pin<Box<dyn Stream<Item = Bytes> + Send>>;

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Self(Content::Full(bytes))
    }
}

impl From<EncodedReply> for Body {
    fn from(reply: EncodedReply) -> Self {
        if reply.shared.is_empty() && reply.tail.is_empty() {
            return Self(Content::Full(reply.head.into()));
        }
        let chunks = [reply.head.into(), reply.shared, reply.tail.into()];
        let chunks = chunks.into_iter().filter(|chunk: &Bytes| !chunk.is_empty());
        Self(Content::Chunks(chunks.collect()))
    }
}

impl Body {
    fn empty() -> Self {
        Self(Content::Full(Bytes::new()))
    }

    /// Returns the bytes of a complete body.
    ///
    /// # Errors
    ///
    /// Returns the frames of a body that is an event stream.
    pub(super) fn into_bytes(self) -> Result<Vec<u8>, Events> {
        match self.0 {
            Content::Full(bytes) => Ok(bytes.to_vec()),
            Content::Chunks(chunks) => Ok(chunks.into_iter().flatten().collect()),
            Content::Stream(events) => Err(events),
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.0 {
            Content::Full(_) | Content::Chunks(_) => "Body(full)",
            Content::Stream(_) => "Body(events)",
        })
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
            Content::Full(bytes) => {
                let bytes = std::mem::take(bytes);
                Poll::Ready(Some(bytes).filter(|bytes| !bytes.is_empty()))
            }
            Content::Chunks(chunks) => Poll::Ready(chunks.pop_front()),
            Content::Stream(events) => events.as_mut().poll_next(cx),
        };
        data.map(|data| data.map(|data| Ok(Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Content::Full(bytes) => bytes.is_empty(),
            Content::Chunks(chunks) => chunks.is_empty(),
            Content::Stream(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Content::Full(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Content::Chunks(chunks) => {
                SizeHint::with_exact(chunks.iter().map(|chunk| chunk.len() as u64).sum())
            }
            Content::Stream(_) => SizeHint::default(),
        }
    }
}

/// Returns a response with a JSON message.
// spec: HTTP-S-08
pub(super) fn json(status: StatusCode, message: EncodedReply) -> Response<Body> {
    json_with_capacity(0, status, message)
}

/// Returns a response with a JSON message. `capacity` is the number of headers in its request: hyper takes
/// the header map for the next request of the connection, which then allocates none.
pub(super) fn json_with_capacity(
    capacity: usize,
    status: StatusCode,
    message: EncodedReply,
) -> Response<Body> {
    let mut response = with_status(status, message.into());
    let headers = response.headers_mut();
    headers.reserve(capacity);
    headers.insert(names::CONTENT_TYPE, names::JSON);
    response
}

/// Returns true when the response body is a JSON message.
pub(super) fn is_json(response: &Response<Body>) -> bool {
    response.headers().get(names::CONTENT_TYPE) == Some(&names::JSON)
}

/// Returns a response with an event stream whose events are complete.
pub(super) fn complete_events(events: EncodedReply) -> Response<Body> {
    event_stream(events.into())
}

/// Returns a response with an event stream that goes on.
pub(super) fn events(events: impl Stream<Item = Bytes> + Send + 'static) -> Response<Body> {
    event_stream(Body(Content::Stream(Box::pin(events))))
}

/// Ends the event stream of a response when `end` is ready. Has no effect on complete bodies.
pub(super) fn end_stream_on(
    response: Response<Body>,
    end: impl Future<Output = ()> + Send + 'static,
) -> Response<Body> {
    response.map(|body| match body.0 {
        Content::Stream(events) => Body(Content::Stream(Box::pin(events.take_until(end)))),
        complete => Body(complete),
    })
}

/// Returns a response with an event stream without events, for a call without a reply: its client
/// cancelled it or deleted its session.
// spec: CAN-04
pub(super) fn no_events() -> Response<Body> {
    event_stream(Body::empty())
}

/// Returns the session id of a request, for the header of its response.
pub(super) fn session_id(head: &request::Parts) -> Option<HeaderValue> {
    head.headers.get(names::MCP_SESSION_ID).cloned()
}

/// Adds the session id to a response with a message or an event stream. The specification assigns the id in
/// the response to `initialize`; the reference servers repeat it on these responses, and clients and proxies
/// of theirs read it there. Errors and responses without a body have none.
// spec: SESS-01
pub(super) fn set_session_id(response: &mut Response<Body>, id: Option<HeaderValue>) {
    if let Some(id) = id
        && response.status() == StatusCode::OK
    {
        response.headers_mut().insert(names::MCP_SESSION_ID, id);
    }
}

// spec: HTTP-S-12
fn event_stream(body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(names::CONTENT_TYPE, names::EVENT_STREAM);
    headers.insert(names::CACHE_CONTROL, names::NO_STORE_NO_TRANSFORM);
    headers.insert(names::X_ACCEL_BUFFERING, names::NO);
    response
}

/// Returns the response to a notification or to a client response.
// spec: HTTP-S-07
pub(super) fn accepted() -> Response<Body> {
    empty(StatusCode::ACCEPTED)
}

/// Returns a response without a body.
pub(super) fn empty(status: StatusCode) -> Response<Body> {
    with_status(status, Body::empty())
}

/// Returns a response with a JSON-RPC error, and logs a refusal because of a limit.
pub(super) fn error(
    status: StatusCode,
    version: ProtocolVersion,
    id: Option<&RequestId>,
    reason: &Fault,
) -> Response<Body> {
    if reason.retry_after().is_some() || status == StatusCode::SERVICE_UNAVAILABLE {
        log_overload(reason);
    }
    fault(status, version, id, reason)
}

/// Returns a response with a JSON-RPC error. Errors with the status 200 are results, and not logged.
pub(super) fn fault(
    status: StatusCode,
    version: ProtocolVersion,
    id: Option<&RequestId>,
    fault: &Fault,
) -> Response<Body> {
    if status != StatusCode::OK {
        tracing::debug!(status = status.as_u16(), reason = %mcp_types::escaped(&fault), "request refused");
    }
    let mut message = EncodedReply::default();
    message.head = fault.encode(id, version);
    with_fault_headers(json(status, message), fault)
}

/// The text for a user who opens an endpoint's URL in a browser. It contains nothing of the request.
const PAGE: &str = "This is an endpoint of the Model Context Protocol: it answers programs, not browsers.\n\n\
    To look at it, run `mcp inspect URL` with the address of this page. To use it, add the address to an MCP client.\n";

/// Replaces the JSON-RPC error for a GET by a text, if a browser's user reads it. Status and other headers stay.
pub(super) fn for_user(mut response: Response<Body>, is_browser: bool) -> Response<Body> {
    let is_replaced = matches!(response.status().as_u16(), 400 | 405 | 406);
    if !is_browser || !is_replaced {
        return response;
    }
    *response.body_mut() = Body::from(Bytes::from_static(PAGE.as_bytes()));
    let headers = response.headers_mut();
    headers.insert(names::CONTENT_TYPE, names::TEXT);
    headers.remove(names::CONTENT_LENGTH);
    response
}

/// Adds the headers for a fault: the time to wait after too many calls, and the challenge for a call whose
/// caller lacks scopes. A layer that knows the authorization server replaces the challenge by a complete
/// one.
// spec: AUTH-S-08
fn with_fault_headers(mut response: Response<Body>, fault: &Fault) -> Response<Body> {
    if let Some(wait) = fault.retry_after() {
        let seconds = HeaderValue::from(wait.as_secs());
        response.headers_mut().insert(names::RETRY_AFTER, seconds);
    }
    let Fault::InsufficientScope { required } = fault else {
        return response;
    };
    let scopes = required.join(" ");
    let challenge = format!(r#"Bearer error="insufficient_scope", scope="{scopes}""#);
    if let Ok(challenge) = HeaderValue::try_from(challenge) {
        response
            .headers_mut()
            .insert(names::WWW_AUTHENTICATE, challenge);
    }
    response.extensions_mut().insert(RequiredScopes {
        scopes: required.clone(),
    });
    response
}

/// Logs a request that is refused because of a limit, at most once per second.
pub(super) fn log_overload(reason: &Fault) {
    static REFUSED: LogLimit = LogLimit::new();

    if let Some(suppressed) = REFUSED.permit(Instant::now().into_std()) {
        tracing::warn!(reason = %mcp_types::escaped(&reason), suppressed, "a request was refused");
    }
}

fn with_status(status: StatusCode, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response
}

//! Reads responses: no body, one message, an event stream, or an error.

use std::time::Duration;

use bytes::Bytes;
use http::header::WWW_AUTHENTICATE;
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use http_body_util::BodyDataStream;
use mcp_core::{ChannelError, Frame};
use mcp_types::{ErrorObject, Message, RequestId};

use super::body;
use super::http_client::HttpBody;
use super::request::{RequestSender, exceeds};
use crate::headers::{essence, names};
use crate::sse::{SseError, SseStream, SseStreamError};

/// The body of a successful response, or the JSON-RPC response in an error response.
pub(super) enum ResponseBody {
    Empty,
    /// One message, or one batch in revision 2025-03-26.
    Message(Frame),
    Events(ResponseEvents),
}

/// The event stream of a response.
pub(super) type ResponseEvents = SseStream<BodyDataStream<HttpBody>>;

/// The `Content-Type` of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ContentType {
    Json,
    EventStream,
    Other,
}

impl ContentType {
    /// Reads the header. A response without one counts as JSON.
    fn from_headers(headers: &HeaderMap) -> Self {
        let Some(value) = headers.get(names::CONTENT_TYPE) else {
            return Self::Json;
        };
        let essence = essence(value.as_bytes());
        if essence.eq_ignore_ascii_case(names::JSON_TYPE.as_bytes()) {
            Self::Json
        } else if essence.eq_ignore_ascii_case(names::EVENT_STREAM_TYPE.as_bytes()) {
            Self::EventStream
        } else {
            Self::Other
        }
    }
}

/// Reads a response by its status and content type.
// spec: HTTP-C-03
pub(super) async fn read(
    response: Response<HttpBody>,
    http: &RequestSender,
) -> Result<ResponseBody, ChannelError> {
    let (head, body) = response.into_parts();
    let status = head.status;
    let limit = http.limits.body;
    if status.is_redirection() {
        return Err(redirect_error(status, &head.headers, http));
    }
    let content_type = ContentType::from_headers(&head.headers);
    if !status.is_success() {
        let frame = read_error_response(status, content_type, &head.headers, body, limit).await?;
        return Ok(ResponseBody::Message(frame));
    }
    if content_type == ContentType::EventStream {
        let chunks = BodyDataStream::new(body);
        let events = SseStream::new(chunks, http.limits.events);
        return Ok(ResponseBody::Events(events));
    }
    if exceeds(&body, limit) {
        return Err(ChannelError::TooLarge { limit });
    }
    let (bytes, outcome) = body::read(body, limit).await;
    outcome?;
    let bytes = without_byte_order_mark(bytes);
    match content_type {
        _ if bytes.is_empty() => Ok(ResponseBody::Empty),
        ContentType::Json => Ok(ResponseBody::Message(frame(bytes, status))),
        ContentType::EventStream | ContentType::Other => {
            Err(content_type_error(&head.headers, &bytes))
        }
    }
}

/// Removes a byte order mark, which some servers send before JSON.
fn without_byte_order_mark(bytes: Bytes) -> Bytes {
    if bytes.starts_with(b"\xEF\xBB\xBF") {
        bytes.slice(3..)
    } else {
        bytes
    }
}

/// Checks the HTTP response to a notification, or to a JSON-RPC response that the client sends. Accepts
/// every success status and ignores the body.
pub(super) async fn check_accepted(
    response: Response<HttpBody>,
    http: &RequestSender,
) -> Result<(), ChannelError> {
    if !response.status().is_success() {
        return Err(status_error(response, http).await);
    }
    if ContentType::from_headers(response.headers()) != ContentType::EventStream {
        // Reading the body to its end lets the connection be reused. An event stream may never end.
        let _ = body::read(response.into_body(), EXCERPT_READ).await;
    }
    Ok(())
}

/// Converts a response with an error status to an error, even if its body is a message.
pub(super) async fn status_error(
    response: Response<HttpBody>,
    http: &RequestSender,
) -> ChannelError {
    let (head, body) = response.into_parts();
    if head.status.is_redirection() {
        return redirect_error(head.status, &head.headers, http);
    }
    let (bytes, _) = body::read(body, EXCERPT_READ.min(http.limits.body)).await;
    with_excerpt(head.status, &head.headers, &bytes)
}

/// Reads the JSON-RPC error in a response with an error status, and its id. Returns `None` if the body is
/// not a JSON-RPC error.
///
/// # Errors
///
/// Returns [`ChannelError::TooLarge`] for a body above the limit, and another error when the
/// connection breaks before the body's end.
pub(super) async fn read_error(
    response: Response<HttpBody>,
    http: &RequestSender,
) -> Result<Option<(Option<RequestId>, ErrorObject)>, ChannelError> {
    let limit = ERROR_ID_READ.min(http.limits.body);
    let (bytes, outcome) = body::read(response.into_body(), limit).await;
    outcome?;
    Ok(match Message::parse(&bytes) {
        Ok(Message::Response(response)) => {
            let error = response.outcome.err();
            error.map(|error| (response.id, error))
        }
        _ => None,
    })
}

/// The name of events that carry a message, and the default name of events.
pub(super) const MESSAGE_EVENT: &str = "message";

/// Converts an event stream error.
pub(super) fn stream_error(error: SseStreamError<ChannelError>) -> ChannelError {
    match error {
        SseStreamError::Body(error) => error,
        SseStreamError::Sse(
            SseError::EventTooLarge { limit } | SseError::TooLongWithoutEvent { limit },
        ) => ChannelError::TooLarge { limit },
        SseStreamError::Sse(error) => ChannelError::Malformed(error.to_string()),
    }
}

/// Maximum number of bytes that are read to find the id of an error.
const ERROR_ID_READ: usize = 64 << 10;

/// Maximum number of bytes that are read for an excerpt.
const EXCERPT_READ: usize = 4096;

/// Creates the frame for a message that came with this status.
pub(super) fn frame(message: impl Into<Bytes>, status: StatusCode) -> Frame {
    let mut frame = Frame::new(message);
    frame.status = Some(status);
    frame
}

/// Reads a response with an error status. Returns its body as a message if that is a JSON-RPC response,
/// and an error otherwise.
async fn read_error_response(
    status: StatusCode,
    content_type: ContentType,
    headers: &HeaderMap,
    body: HttpBody,
    limit: usize,
) -> Result<Frame, ChannelError> {
    let limit = if content_type == ContentType::Json {
        limit
    } else {
        limit.min(EXCERPT_READ)
    };
    // An incomplete body is still useful in the excerpt.
    let (bytes, _) = body::read(body, limit).await;
    let bytes = without_byte_order_mark(bytes);
    if matches!(Message::parse(&bytes), Ok(Message::Response(_))) {
        let mut frame = frame(bytes, status);
        frame.challenge = challenge(status, headers);
        frame.retry_after = retry_after(headers);
        return Ok(frame);
    }
    Err(with_excerpt(status, headers, &bytes))
}

/// Creates the error for a response with an error status and the start of its body.
fn with_excerpt(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> ChannelError {
    ChannelError::Status {
        status,
        excerpt: excerpt_of_error(headers, body),
        retry_after: retry_after(headers),
        challenge: challenge(status, headers),
    }
}

/// Returns the start of an error body. Returns nothing for HTML: a proxy's error page only repeats the
/// status.
fn excerpt_of_error(headers: &HeaderMap, body: &[u8]) -> String {
    let is_html =
        |value: &HeaderValue| essence(value.as_bytes()).eq_ignore_ascii_case(b"text/html");
    if headers.get(names::CONTENT_TYPE).is_some_and(is_html)
        || body.trim_ascii_start().starts_with(b"<")
    {
        return String::new();
    }
    body::excerpt(body)
}

/// Maximum length of a challenge in bytes.
const MAX_CHALLENGE: usize = 8 << 10;

/// Returns the `WWW-Authenticate` headers of a response with status 401 or 403, joined by commas.
/// Leaves out headers that are not text, and those that exceed the limit.
fn challenge(status: StatusCode, headers: &HeaderMap) -> Option<Box<str>> {
    if !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return None;
    }
    let mut joined = String::new();
    for value in headers.get_all(WWW_AUTHENTICATE) {
        let Ok(value) = value.to_str() else { continue };
        if joined.len() + value.len() > MAX_CHALLENGE {
            break;
        }
        if !joined.is_empty() {
            joined += ", ";
        }
        joined += value;
    }
    (!joined.is_empty()).then(|| joined.into())
}

/// Returns the `Retry-After` header in seconds. The date form of the header is ignored.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers
        .get(names::RETRY_AFTER)?
        .to_str()
        .ok()?
        .trim()
        .parse()
        .ok()?;
    Some(Duration::from_secs(seconds))
}

// spec: HTTP-C-14
fn redirect_error(status: StatusCode, headers: &HeaderMap, http: &RequestSender) -> ChannelError {
    let target = headers
        .get(names::LOCATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|location| http.server_url.redirect_target(location));
    let excerpt = match target {
        Some(target) => format!(
            "the server redirects to {target}; redirects are not followed, because headers may \
             be secrets: connect to that URL if you trust it"
        ),
        None => "the server redirects, and redirects are not followed".to_owned(),
    };
    ChannelError::Status {
        status,
        excerpt,
        retry_after: None,
        challenge: None,
    }
}

fn content_type_error(headers: &HeaderMap, body: &[u8]) -> ChannelError {
    let given = headers
        .get(names::CONTENT_TYPE)
        .map(|value| String::from_utf8_lossy(value.as_bytes()));
    ChannelError::Malformed(format!(
        "its content type is {:?}; is the URL that of an MCP endpoint? It begins: {}",
        given.unwrap_or_default(),
        body::excerpt(body),
    ))
}

//! What an answer may be: nothing, one message, a stream of events, or no answer of the protocol.

use std::time::Duration;

use http::{HeaderMap, Response, StatusCode};
use http_body_util::BodyDataStream;
use mcp_core::{ChannelError, Frame};
use mcp_types::Message;

use super::body;
use super::requests::{Body, Http, exceeds};
use crate::headers::names;
use crate::sse::{SseError, SseStream, SseStreamError};

/// An answer, as far as its head tells how to read it.
pub(super) enum Answer {
    /// No body.
    Nothing,
    /// One message, or what is one batch in one revision.
    Message(Frame),
    /// Messages as they come.
    Events(Events),
}

/// The events of a response.
pub(super) type Events = SseStream<BodyDataStream<Body>>;

/// What the `Content-Type` of an answer says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Json,
    Events,
    Other,
}

impl Kind {
    /// An answer that does not say is taken for JSON.
    fn of(headers: &HeaderMap) -> Self {
        let Some(value) = headers.get(names::CONTENT_TYPE) else {
            return Self::Json;
        };
        let value = value.as_bytes();
        let essence = value
            .split(|&byte| byte == b';')
            .next()
            .unwrap_or(value)
            .trim_ascii();
        if essence.eq_ignore_ascii_case(names::JSON_TYPE.as_bytes()) {
            Self::Json
        } else if essence.eq_ignore_ascii_case(names::EVENT_STREAM_TYPE.as_bytes()) {
            Self::Events
        } else {
            Self::Other
        }
    }
}

/// Reads a response as far as its head tells how.
// spec: HTTP-C-03
pub(super) async fn read(response: Response<Body>, http: &Http) -> Result<Answer, ChannelError> {
    let (head, body) = response.into_parts();
    let status = head.status;
    let limit = http.limits.body;
    if status.is_redirection() {
        return Err(redirected(status, &head.headers, http));
    }
    let kind = Kind::of(&head.headers);
    if !status.is_success() {
        let frame = refusal(status, kind, &head.headers, body, limit).await?;
        return Ok(Answer::Message(frame));
    }
    if kind == Kind::Events {
        let chunks = BodyDataStream::new(body);
        return Ok(Answer::Events(SseStream::new(chunks, http.limits.events)));
    }
    if exceeds(&body, limit) {
        return Err(ChannelError::TooLarge { limit });
    }
    let (text, end) = body::read(body, limit).await;
    end?;
    match kind {
        _ if text.is_empty() => Ok(Answer::Nothing),
        Kind::Json => Ok(Answer::Message(Frame::new(text).status(status))),
        Kind::Events | Kind::Other => Err(not_ours(&head.headers, &text)),
    }
}

/// The answer to what nobody answers: any success will do, and what it says is not looked at.
// spec: HTTP-C-01
pub(super) async fn accepted(response: Response<Body>, http: &Http) -> Result<(), ChannelError> {
    if !response.status().is_success() {
        return Err(refused(response, http).await);
    }
    if Kind::of(response.headers()) != Kind::Events {
        // A body that is read to its end leaves a connection that can be used again.
        let _ = body::read(response.into_body(), EXCERPT_READ).await;
    }
    Ok(())
}

/// An error status, also when a message came with it.
pub(super) async fn refused(response: Response<Body>, http: &Http) -> ChannelError {
    let (head, body) = response.into_parts();
    if head.status.is_redirection() {
        return redirected(head.status, &head.headers, http);
    }
    let (text, _) = body::read(body, EXCERPT_READ.min(http.limits.body)).await;
    ChannelError::Status {
        status: head.status,
        excerpt: body::excerpt(&text),
        retry_after: retry_after(&head.headers),
    }
}

/// The name of events with a message; also of those without a name.
pub(super) const MESSAGE_EVENT: &str = "message";

/// What became of a stream of events.
pub(super) fn failed(error: SseStreamError<ChannelError>) -> ChannelError {
    match error {
        SseStreamError::Body(error) => error,
        SseStreamError::Sse(
            SseError::EventTooLarge { limit } | SseError::TooLongWithoutEvent { limit },
        ) => ChannelError::TooLarge { limit },
        SseStreamError::Sse(error) => ChannelError::Malformed(error.to_string()),
    }
}

/// How much of a body that is no message is read for its excerpt.
const EXCERPT_READ: usize = 4096;

/// An error status: with a message in the body it is an answer like every other.
async fn refusal(
    status: StatusCode,
    kind: Kind,
    headers: &HeaderMap,
    body: Body,
    limit: usize,
) -> Result<Frame, ChannelError> {
    let limit = if kind == Kind::Json {
        limit
    } else {
        limit.min(EXCERPT_READ)
    };
    // What has arrived explains the status, also when the rest of it is missing.
    let (text, _) = body::read(body, limit).await;
    if matches!(Message::parse(&text), Ok(Message::Response(_))) {
        return Ok(Frame::new(text).status(status));
    }
    Err(ChannelError::Status {
        status,
        excerpt: body::excerpt(&text),
        retry_after: retry_after(headers),
    })
}

/// Seconds; the other form of the header, a date, is left to those who have a calendar.
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
fn redirected(status: StatusCode, headers: &HeaderMap, http: &Http) -> ChannelError {
    let target = headers
        .get(names::LOCATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|location| http.endpoint.redirected(location));
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
    }
}

fn not_ours(headers: &HeaderMap, text: &[u8]) -> ChannelError {
    let given = headers
        .get(names::CONTENT_TYPE)
        .map(|value| String::from_utf8_lossy(value.as_bytes()));
    ChannelError::Malformed(format!(
        "its content type is {:?}; is the URL that of an MCP endpoint? It begins: {}",
        given.unwrap_or_default(),
        body::excerpt(text),
    ))
}

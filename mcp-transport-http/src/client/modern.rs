//! One call of the modern era: one POST, answered by JSON or by a stream of events.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http>

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, Bytes};
use futures_core::Stream;
use futures_util::{StreamExt, TryStreamExt, future, stream};
use http::{HeaderMap, HeaderName, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::BodyDataStream;
use mcp_core::{ChannelError, Frame, OutCall};
use mcp_types::Message;
use tower_service::Service;

use super::body::{self, broken};
use super::endpoint::Endpoint;
use super::{BoxError, Limits};
use crate::headers::{emit, names};
use crate::sse::{SseError, SseItem, SseStream, SseStreamError};

/// Headers that only this transport writes, or that belong to the connection.
const RESERVED: [HeaderName; 10] = [
    names::ACCEPT,
    names::CONTENT_TYPE,
    names::CONTENT_LENGTH,
    names::HOST,
    names::MCP_PROTOCOL_VERSION,
    names::MCP_METHOD,
    names::MCP_NAME,
    names::MCP_SESSION_ID,
    names::LAST_EVENT_ID,
    names::TRANSFER_ENCODING,
];

/// The POST that carries a call. `common` are the headers of every request; those of the call come
/// before them, those of the protocol before both.
// spec: HTTP-C-01, HTTP-C-02, HTTP-C-04, HTTP-C-05
pub(super) fn request(endpoint: &Endpoint, common: &HeaderMap, out: OutCall) -> Request<Bytes> {
    let mut request = Request::new(out.body);
    *request.method_mut() = http::Method::POST;
    *request.uri_mut() = endpoint.uri.clone();
    let headers = request.headers_mut();
    headers.reserve(8 + common.len() + out.headers.len());
    if let Some(authorization) = &endpoint.authorization {
        headers.insert(names::AUTHORIZATION, authorization.clone());
    }
    replace(headers, common);
    replace(headers, &out.headers);
    headers.insert(names::ACCEPT, names::ACCEPT_BOTH);
    headers.insert(names::CONTENT_TYPE, names::JSON);
    emit(&out.mirror, headers);
    request
}

/// Sets the headers of `from`; one that comes several times keeps all of its values.
fn replace(headers: &mut HeaderMap, from: &HeaderMap) {
    for name in from.keys().filter(|name| !RESERVED.contains(name)) {
        headers.remove(name);
        for value in from.get_all(name) {
            headers.append(name, value.clone());
        }
    }
}

/// Sends the request when first polled; dropping the stream closes the POST.
// spec: HTTP-C-07, HTTP-SM-15
pub(super) fn frames<S, B>(
    service: S,
    request: Request<Bytes>,
    endpoint: Arc<Endpoint>,
    limits: Limits,
) -> impl Stream<Item = Result<Frame, ChannelError>> + Send
where
    S: Service<Request<Bytes>, Response = Response<B>> + Send,
    S::Future: Send,
    S::Error: Into<BoxError>,
    B: Body + Send,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    stream::once(async move {
        let response = send(service, request, &endpoint).await?;
        answer(response, &endpoint, limits).await
    })
    .try_flatten()
}

async fn send<S, B>(
    mut service: S,
    request: Request<Bytes>,
    endpoint: &Endpoint,
) -> Result<Response<B>, ChannelError>
where
    S: Service<Request<Bytes>, Response = Response<B>>,
    S::Error: Into<BoxError>,
{
    let named = |error| match error {
        ChannelError::Connect { source, .. } => ChannelError::Connect {
            peer: endpoint.shown.to_string(),
            source,
        },
        other => other,
    };
    let ready = poll_fn(|cx| service.poll_ready(cx)).await.map_err(broken);
    ready.map_err(named)?;
    service.call(request).await.map_err(broken).map_err(named)
}

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
async fn answer<B>(
    response: Response<B>,
    endpoint: &Endpoint,
    limits: Limits,
) -> Result<impl Stream<Item = Result<Frame, ChannelError>> + Send + use<B>, ChannelError>
where
    B: Body + Send,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    let (head, body) = response.into_parts();
    let status = head.status;
    if status.is_redirection() {
        return Err(redirected(status, &head.headers, endpoint));
    }
    let kind = Kind::of(&head.headers);
    if !status.is_success() {
        let frame = refusal(status, kind, &head.headers, body, limits).await?;
        return Ok(stream::iter([Ok(frame)]).left_stream());
    }
    if kind == Kind::Events {
        let chunks = BodyDataStream::new(body)
            .map_ok(|mut chunk| chunk.copy_to_bytes(chunk.remaining()))
            .map_err(broken);
        let events = SseStream::new(chunks, limits.events);
        let frames = events.filter_map(move |item| future::ready(frame(item, status).transpose()));
        return Ok(frames.right_stream().right_stream());
    }
    if body.size_hint().lower() > limits.body as u64 {
        return Err(ChannelError::TooLarge { limit: limits.body });
    }
    let (text, end) = body::read(body, limits.body).await;
    end?;
    // An answer without a body ends without a frame; the caller knows whether one was due.
    let frame = match kind {
        _ if text.is_empty() => None,
        Kind::Json => Some(Ok(Frame::new(text).status(status))),
        Kind::Events | Kind::Other => return Err(not_ours(&head.headers, &text)),
    };
    Ok(stream::iter(frame).left_stream().right_stream())
}

/// The name of events with a message; also of those without a name.
const MESSAGE_EVENT: &str = "message";

/// The message of an event; `None` for events that carry none.
// spec: HTTP-C-08, HTTP-S-11
fn frame(
    item: Result<SseItem, SseStreamError<ChannelError>>,
    status: StatusCode,
) -> Result<Option<Frame>, ChannelError> {
    match item {
        Ok(SseItem::Event(event)) if event.name == MESSAGE_EVENT && !event.data.is_empty() => {
            Ok(Some(Frame::new(event.data).status(status)))
        }
        Ok(SseItem::Event(_) | SseItem::Retry(_)) => Ok(None),
        Err(SseStreamError::Body(error)) => Err(error),
        Err(SseStreamError::Sse(
            SseError::EventTooLarge { limit } | SseError::NothingButNoise { limit },
        )) => Err(ChannelError::TooLarge { limit }),
        Err(SseStreamError::Sse(error)) => Err(ChannelError::Malformed(error.to_string())),
    }
}

/// How much of a body that is no message is read for its excerpt.
const EXCERPT_READ: usize = 4096;

/// An error status: with a message in the body it is an answer like every other.
async fn refusal<B>(
    status: StatusCode,
    kind: Kind,
    headers: &HeaderMap,
    body: B,
    limits: Limits,
) -> Result<Frame, ChannelError>
where
    B: Body,
    B::Error: Into<BoxError>,
{
    let limit = if kind == Kind::Json {
        limits.body
    } else {
        limits.body.min(EXCERPT_READ)
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
fn redirected(status: StatusCode, headers: &HeaderMap, endpoint: &Endpoint) -> ChannelError {
    let target = headers
        .get(names::LOCATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|location| endpoint.redirected(location));
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

#[cfg(test)]
mod tests;

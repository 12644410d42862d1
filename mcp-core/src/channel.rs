//! The trait of client transports.

use std::borrow::Cow;
use std::fmt;
use std::future::{pending, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::Stream;
use futures_util::future::BoxFuture;
use mcp_types::{Cancelled, Meta, Method, ProtocolVersion, RawObject, RequestId};

use crate::connection::{ClientProfile, Connection, HeaderNames, ServerIdentity};
use crate::message::{ClientNotification, ClientRequest, ClientResponse};
use crate::wire::{self, ClientRequestContext};

/// A client transport: a connection to one server.
pub trait Channel: Send + Sync + 'static {
    /// Sends a request. The stream yields its notifications, then its response, then it ends.
    ///
    /// Dropping the stream before the response cancels the request. Over sessions and pipes, where
    /// the server does not see the end of a stream, the channel queues a `notifications/cancelled`
    /// without waiting for it, and drops it when the queue is full. `initialize` is never cancelled.
    // spec: HTTP-C-07, HTTP-C-12
    fn call(&self, request: OutgoingRequest) -> Frames;

    /// Returns the server name for error messages: a URL or a command line, without secrets.
    fn peer(&self) -> Cow<'_, str>;

    /// Returns the server's identity, for a cache that several clients share. `None` (default):
    /// it is unknown whether another channel reaches the same server, so nothing is shared.
    fn identity(&self) -> Option<ServerIdentity> {
        None
    }

    /// Returns the transport and the address of the server, for telemetry. `None` (default): unknown, or
    /// a server in the same process.
    fn connection(&self) -> Option<Connection> {
        None
    }

    /// Returns true if the transport mirrors arguments of tools in headers. The client then looks for
    /// annotated arguments.
    // spec: XHDR-10
    fn mirrors_arguments(&self) -> bool {
        false
    }

    /// Sets headers for every request. Called before the first request. Transports without headers
    /// ignore it.
    fn set_headers(&mut self, _: http::HeaderMap) {}

    /// Sends a notification, or the response to a server request.
    ///
    /// The default implementation fails: a channel for the modern era sends neither.
    ///
    /// # Errors
    ///
    /// Returns [`ChannelError`] when the message cannot be sent.
    fn notify(&self, message: OneWayMessage) -> BoxFuture<'static, Result<(), ChannelError>> {
        let refused = format!("this transport does not send {}", message.mirrored.method);
        Box::pin(ready(Err(ChannelError::NotSendable(refused))))
    }

    /// Ends the call during which the server has sent the request `id` with this error, because the server does not
    /// get the response that the call waits for. The default does nothing, for transports where that ends the
    /// connection.
    fn fail_call(&self, id: &RequestId, error: ChannelError) {
        let _ = (id, error);
    }

    /// Returns the messages that belong to no call: the server's requests, and notifications. Only
    /// legacy sessions have them.
    ///
    /// The first caller receives the stream, which ends with the session. A
    /// [`ChannelError::Broken`] in it means that messages may be missing; the stream continues.
    fn inbound(&self) -> Option<Frames> {
        None
    }

    /// Waits until the messages of [`inbound`](Self::inbound) arrive again after an interruption, and
    /// until the received ones are read. Returns whether there was an interruption. `false` at once
    /// (default) where the messages are interrupted only together with the whole connection.
    fn inbound_restored(&self) -> BoxFuture<'static, bool> {
        Box::pin(ready(false))
    }

    /// Sets the revision of the following messages: before `initialize` the requested one, and after
    /// it the negotiated one.
    fn set_version(&self, _: ProtocolVersion) {}

    /// Returns true if silence and an early end of the connection suggest a legacy server, as on a
    /// pipe.
    // spec: COMPAT-08, COMPAT-14
    fn is_pipe(&self) -> bool {
        false
    }

    /// Restarts a server that has exited because of a message that it did not know.
    ///
    /// # Errors
    ///
    /// Returns [`ChannelError`] when the transport cannot restart the server, or when that fails.
    // spec: COMPAT-15
    fn reopen(&self) -> BoxFuture<'static, Result<(), ChannelError>> {
        Box::pin(ready(Err(ChannelError::Closed(CloseReason::Remote))))
    }

    /// Waits for the end of the connection. Pending forever where each call has its own connection.
    fn closed(&self) -> BoxFuture<'static, CloseReason> {
        Box::pin(pending())
    }

    /// Returns the start of the last received line that is not a message, if no response came after it, for the error of
    /// a call without a response. `None` (default): there is none, or the transport has no lines.
    fn unread_line(&self) -> Option<String> {
        None
    }

    /// Returns the last lines that the server has written to its standard error, for the message of
    /// an error that the server does not explain (-32603). `None` (default): the transport does not
    /// see it. A channel waits shortly for lines that the server has written before its response.
    fn stderr(&self) -> BoxFuture<'static, Option<String>> {
        Box::pin(ready(None))
    }

    /// Closes the connection and the session. Running calls end with [`ChannelError::Closed`].
    ///
    /// The connection is closed in any case, also when the returned future is dropped. The future waits for
    /// the server without a limit of time.
    ///
    /// # Errors
    ///
    /// Returns [`ChannelError`] when the server may still keep the session.
    fn close(&self) -> BoxFuture<'static, Result<(), ChannelError>> {
        Box::pin(ready(Ok(())))
    }
}

/// The messages that belong to one request.
pub type Frames = Pin<Box<dyn Stream<Item = Result<Frame, ChannelError>> + Send>>;

/// An encoded message without a response: a notification, or the response to a server request.
#[derive(Clone)]
#[non_exhaustive]
pub struct OneWayMessage {
    /// The message as JSON.
    pub body: Bytes,
    /// The values that HTTP mirrors in headers. A response has its request's method.
    pub mirrored: MirroredHeaders,
    /// Headers that the caller has set, for transports with headers.
    pub headers: http::HeaderMap,
}

impl OneWayMessage {
    /// An encoded notification or response.
    pub fn new(body: impl Into<Bytes>, mirrored: MirroredHeaders) -> Self {
        Self {
            body: body.into(),
            mirrored,
            headers: http::HeaderMap::new(),
        }
    }

    /// Encodes a notification. Returns `None` when the revision does not have it. `meta` are additional
    /// keys of `_meta`.
    #[inline]
    pub fn notification(
        notification: &ClientNotification,
        meta: Option<&Meta>,
        version: ProtocolVersion,
    ) -> Option<Self> {
        let mut body = Vec::new();
        let is_written = wire::write_client(notification, meta, version, &mut body);
        let method = notification
            .method()
            .map(Method::as_str)
            .or(match notification {
                ClientNotification::Other { method, .. } => Some(method),
                _ => None,
            })?;
        is_written.then(|| Self::new(body, MirroredHeaders::new(version, method, None)))
    }

    /// Encodes the response to the request `id` of a server, whose values are `mirrored`. Returns `None` in
    /// 2026-07-28, which has no server requests.
    #[inline]
    pub fn response(
        response: &ClientResponse,
        id: &RequestId,
        mirrored: MirroredHeaders,
    ) -> Option<Self> {
        let mut body = Vec::new();
        wire::write_response(response, id, mirrored.version, &mut body)
            .then(|| Self::new(body, mirrored))
    }

    /// Encodes an extension notification. In the modern era its `_meta` carries the client, as
    /// that of a request does. `meta` are additional keys.
    #[inline]
    pub fn custom(
        method: &str,
        params: &RawObject,
        meta: Option<&Meta>,
        version: ProtocolVersion,
        profile: &ClientProfile,
    ) -> Self {
        let body = wire::custom_notification(method, params, meta, version, profile);
        Self::new(body, MirroredHeaders::new(version, method, None))
    }

    /// Encodes the cancellation of a request. Returns `None` for `initialize`, which cannot be
    /// cancelled. `meta` are additional keys of `_meta`.
    // spec: CAN-01, CAN-02, HTTP-C-12
    #[inline]
    pub fn cancellation(
        id: &RequestId,
        meta: Option<&Meta>,
        mirrored: &MirroredHeaders,
    ) -> Option<Self> {
        if Method::from_name(&mirrored.method) == Some(Method::Initialize) {
            return None;
        }
        let cancelled = Cancelled::from(id.clone());
        Self::notification(
            &ClientNotification::Cancelled(cancelled),
            meta,
            mirrored.version,
        )
    }
}

/// Omits the header values, which may be secrets.
impl fmt::Debug for OneWayMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OneWayMessage")
            .field("body", &self.body)
            .field("mirrored", &self.mirrored)
            .field("headers", &HeaderNames(&self.headers))
            .finish()
    }
}

/// The reason for the end of a connection. Two broken connections are equal if their causes have the same text.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum CloseReason {
    /// The client has closed the connection.
    Local,
    /// The server has closed the connection.
    Remote,
    /// The connection broke for this cause: the transport's error, which is the
    /// [source](std::error::Error::source). The text of a child process contains the end of its standard error.
    Broken(Arc<dyn std::error::Error + Send + Sync>),
}

impl CloseReason {
    /// The reason of a connection that broke for this cause.
    pub fn broken(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Broken(Arc::from(cause.into()))
    }
}

impl fmt::Display for CloseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local => f.write_str("the client has closed the connection"),
            Self::Remote => f.write_str("the server has closed the connection"),
            Self::Broken(cause) => write!(f, "the connection broke: {cause}"),
        }
    }
}

/// By hand: the source is the cause itself, and not the `Arc` around it, so that it can be downcast.
impl std::error::Error for CloseReason {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Broken(cause) => Some(&**cause),
            Self::Local | Self::Remote => None,
        }
    }
}

impl PartialEq for CloseReason {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Local, Self::Local) | (Self::Remote, Self::Remote) => true,
            (Self::Broken(one), Self::Broken(other)) => one.to_string() == other.to_string(),
            _ => false,
        }
    }
}

impl Eq for CloseReason {}

/// An encoded request.
#[derive(Clone)]
#[non_exhaustive]
pub struct OutgoingRequest {
    /// The id.
    pub id: RequestId,
    /// The message as JSON.
    pub body: Bytes,
    /// The values that HTTP mirrors in headers.
    pub mirrored: MirroredHeaders,
    /// Headers that the caller has set, for transports with headers.
    pub headers: http::HeaderMap,
    /// Called when the channel sends a cancellation of this request.
    pub on_cancel: Option<CancelHook>,
}

/// A function that observes a request's cancellation, and returns additional keys of its `_meta`. It
/// runs where a call is dropped, so it must not block.
pub type CancelHook = Arc<dyn Fn() -> Option<Meta> + Send + Sync>;

impl OutgoingRequest {
    /// Encodes a request. A server refuses a method that the revision does not have.
    #[inline]
    pub fn encode(
        request: &ClientRequest,
        version: ProtocolVersion,
        context: &ClientRequestContext<'_>,
    ) -> Self {
        let body = wire::encode_request(request, context, version);
        let mirrored = MirroredHeaders::new(version, request.method_name(), request.item());
        Self::new(context.id.clone(), body, mirrored)
    }

    /// A request without additional headers.
    pub fn new(id: RequestId, body: impl Into<Bytes>, mirrored: MirroredHeaders) -> Self {
        Self {
            id,
            body: body.into(),
            mirrored,
            headers: http::HeaderMap::new(),
            on_cancel: None,
        }
    }
}

/// Omits the header values, which may be secrets.
impl fmt::Debug for OutgoingRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutgoingRequest")
            .field("id", &self.id)
            .field("body", &self.body)
            .field("mirrored", &self.mirrored)
            .field("headers", &HeaderNames(&self.headers))
            .finish()
    }
}

/// The values of a message that HTTP mirrors in headers.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MirroredHeaders {
    /// The revision of the message.
    pub version: ProtocolVersion,
    /// The method.
    pub method: Box<str>,
    /// The name of the tool or prompt, or the resource's URI.
    pub name: Option<Box<str>>,
    /// The mirrored arguments of a tool ([`ParamHeaders`](crate::ParamHeaders)): the name of each
    /// header without the common prefix, and its value, not yet encoded.
    pub params: Vec<(Box<str>, Box<str>)>,
}

impl MirroredHeaders {
    /// The mirrored values of a message without arguments.
    pub fn new(version: ProtocolVersion, method: &str, name: Option<&str>) -> Self {
        Self {
            version,
            method: method.into(),
            name: name.map(Into::into),
            params: Vec::new(),
        }
    }
}

/// One message from the server.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Frame {
    /// The message as JSON.
    pub message: Bytes,
    /// The HTTP status of the response that carried the message, as evidence for the server's era.
    pub status: Option<http::StatusCode>,
    /// The challenge of the response (`WWW-Authenticate`), when its status is 401 or 403.
    pub challenge: Option<Box<str>>,
    /// The time to wait before the request is repeated (`Retry-After`), when the status is an error.
    pub retry_after: Option<Duration>,
}

impl Frame {
    /// A message without a status.
    pub fn new(message: impl Into<Bytes>) -> Self {
        Self {
            message: message.into(),
            ..Self::default()
        }
    }
}

/// Returns the message of an error with those of its causes.
pub fn with_causes(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let causes: Vec<_> = causes.map(ToString::to_string).collect();
    causes.join(": ")
}

/// A client transport error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChannelError {
    /// The client could not connect.
    #[error("cannot connect to {peer}")]
    Connect {
        /// The server.
        peer: String,
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The connection broke before the response arrived.
    #[error("the connection broke before the answer was there")]
    Broken {
        /// The cause.
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// The response to a request that the server sent during the call was not delivered. The call waits for it.
    #[error("the server did not get the response to its request")]
    NotDelivered {
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The connection is closed. No further call on it can succeed.
    #[error("the connection is closed: {0}")]
    Closed(CloseReason),
    /// The server no longer has the session, and refused the request before it looked at its content.
    /// Running requests end as [`Broken`](Self::Broken).
    #[error("the server has ended the session")]
    SessionExpired,
    /// An HTTP status without a message of the Model Context Protocol. 502 and 504 come from a proxy that
    /// has sent the request on, so the server may have executed it.
    #[error("{}", status_text(*status, excerpt))]
    Status {
        /// The status.
        status: http::StatusCode,
        /// The start of the body. Empty if the body is HTML, which is a page for people.
        excerpt: String,
        /// The time to wait before the request is repeated (`Retry-After`).
        retry_after: Option<Duration>,
        /// The challenge of the server (`WWW-Authenticate`), when the status is 401 or 403.
        challenge: Option<Box<str>>,
    },
    /// The server demands authorization, and it failed.
    #[error("authorization failed")]
    Unauthorized {
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The response exceeds the limit of the client.
    #[error(
        "the answer is longer than {limit} bytes; ask for less, or raise `HttpChannel::body_limit` or \
         `ServerCommand::line_limit`"
    )]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// The response is not a protocol message.
    #[error("malformed answer: {0}")]
    Malformed(String),
    /// The request itself cannot be sent: an invalid URL or header.
    #[error("cannot send the request: {0}")]
    NotSendable(String),
}

impl ChannelError {
    /// Converts an error of a service or of a body. A `ChannelError` is returned unchanged.
    #[doc(hidden)]
    pub fn broken(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        match error.into().downcast::<Self>() {
            Ok(error) => *error,
            Err(source) => Self::Broken {
                source: Some(source),
            },
        }
    }
}

fn status_text(status: http::StatusCode, excerpt: &str) -> String {
    let text = match status {
        http::StatusCode::BAD_GATEWAY => {
            format!("the proxy lost the server while it worked ({status})")
        }
        http::StatusCode::GATEWAY_TIMEOUT => {
            format!("the proxy did not wait longer for the server ({status})")
        }
        _ => format!("HTTP status {status}"),
    };
    if excerpt.is_empty() {
        text
    } else {
        format!("{text}: {excerpt}")
    }
}

/// The cause of a connection that failed in TLS: a source of [`ChannelError::Connect`] or
/// [`ChannelError::Broken`]. Possible causes are a certificate that is not trusted, and a peer that does
/// not speak TLS.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TlsError(Box<str>);

impl TlsError {
    /// Creates the error from its message.
    pub fn new(message: impl Into<Box<str>>) -> Self {
        Self(message.into())
    }
}

#[cfg(test)]
mod tests {
    use mcp_types::{ProtocolVersion, RequestId};

    use super::{MirroredHeaders, OneWayMessage};

    #[test]
    fn cancellation_names_the_request_and_skips_initialize() {
        for version in ProtocolVersion::ALL {
            let mirror = MirroredHeaders::new(version, "tools/call", Some("add"));
            let note = OneWayMessage::cancellation(&RequestId::from("a"), None, &mirror).unwrap();
            let text = std::str::from_utf8(&note.body).unwrap();
            assert!(
                text.contains(r#""method":"notifications/cancelled""#),
                "{text}"
            );
            assert!(text.contains(r#""requestId":"a""#), "{text}");
            assert_eq!(&*note.mirrored.method, "notifications/cancelled");
            let opening = MirroredHeaders::new(version, "initialize", None);
            assert!(OneWayMessage::cancellation(&RequestId::from(1), None, &opening).is_none());
        }
    }
}

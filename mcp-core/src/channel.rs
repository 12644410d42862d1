//! What a client transport offers.

use std::borrow::Cow;
use std::future::{pending, ready};
use std::pin::Pin;

use bytes::Bytes;
use futures_util::Stream;
use mcp_types::{Cancelled, Method, ProtocolVersion, RequestId};

use crate::{BoxFuture, ClientNotification, wire};

/// A client's way to one server.
pub trait Channel: Send + Sync + 'static {
    /// Sends a request. The stream gives what belongs to it: its notifications, then its response,
    /// then it ends.
    ///
    /// Dropping the stream before the response is there cancels the request, and nobody else need
    /// do so. Where the end of a stream says nothing to the server (sessions, pipes), the channel
    /// queues a `notifications/cancelled` for it; that is never waited for, and may be left out
    /// when the queue is full. `initialize` is never cancelled.
    // spec: CAN-02, HTTP-C-07, HTTP-C-12
    fn call(&self, out: OutgoingRequest) -> Frames;

    /// The server as errors name it: a URL, a command line. Never with secrets.
    fn peer(&self) -> Cow<'_, str>;

    /// Whether it repeats the arguments of tools in headers, so that somebody has to find them.
    // spec: XHDR-10
    fn mirrors_arguments(&self) -> bool {
        false
    }

    /// Sets headers of every request, before the first one is sent. Transports without headers have
    /// no use for them.
    fn set_headers(&mut self, _: http::HeaderMap) {}

    /// Sends what nobody answers: a notification, or the answer to a request of the server.
    ///
    /// The default refuses it: a channel that knows the modern era alone has no use for either.
    fn notify(&self, out: OneWayMessage) -> BoxFuture<'static, Result<(), ChannelError>> {
        let refused = format!("{} has no place here", out.mirrored.method);
        Box::pin(ready(Err(ChannelError::Unsendable(refused))))
    }

    /// What the server says outside of the calls of the client: its requests, whatever stream they
    /// came on, and notifications that belong to no call. Legacy sessions alone have such; the
    /// first caller gets the stream, and it ends with the session. [`ChannelError::Broken`] in it
    /// means that it goes on, and that some of what the server has said may be missing.
    fn inbound(&self) -> Option<Frames> {
        None
    }

    /// Tells the channel which revision the next messages speak: before `initialize` the one that
    /// it asks for, and once more when the two sides have agreed on one.
    fn set_version(&self, _: ProtocolVersion) {}

    /// Silence and an early end are evidence that the server is of the legacy era: so it is on a
    /// pipe, not over HTTP.
    // spec: COMPAT-08, COMPAT-14
    fn is_pipe(&self) -> bool {
        false
    }

    /// Starts the server anew after it ended at a message that it did not know.
    ///
    /// # Errors
    ///
    /// [`ChannelError`] when that cannot be done, or fails.
    // spec: COMPAT-15
    fn reopen(&self) -> BoxFuture<'static, Result<(), ChannelError>> {
        Box::pin(ready(Err(ChannelError::Closed(CloseReason::Remote))))
    }

    /// Waits for the end of the connection; forever where each call has its own.
    fn closed(&self) -> BoxFuture<'static, CloseReason> {
        Box::pin(pending())
    }

    /// Ends the connection and the session, if there is one. Running calls end with
    /// [`ChannelError::Closed`].
    fn close(&self) -> BoxFuture<'static, ()> {
        Box::pin(ready(()))
    }
}

/// What belongs to one request.
pub type Frames = Pin<Box<dyn Stream<Item = Result<Frame, ChannelError>> + Send>>;

/// A message that nobody answers, ready to be sent.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OneWayMessage {
    /// Its text.
    pub body: Bytes,
    /// What a transport with headers repeats in them. Answers name the method that they answer.
    pub mirrored: MirroredHeaders,
}

impl OneWayMessage {
    /// A notification, or an answer.
    pub fn new(body: impl Into<Bytes>, mirrored: MirroredHeaders) -> Self {
        Self {
            body: body.into(),
            mirrored,
        }
    }

    /// A notification of a client; `None` when the revision does not have it.
    #[inline]
    pub fn notification(note: &ClientNotification, version: ProtocolVersion) -> Option<Self> {
        let mut body = Vec::new();
        let is_written =
            wire::client_for_version(version).encode_client_notification(note, &mut body);
        let method = note.method().map(Method::as_str).or(match note {
            ClientNotification::Other { method, .. } => Some(method),
            _ => None,
        })?;
        is_written.then(|| Self::new(body, MirroredHeaders::new(version, method, None)))
    }

    /// Takes a request back whose stream was dropped before its end; `None` for `initialize`, which
    /// cannot be taken back. For channels on which dropping the stream does not tell the server.
    // spec: CAN-01, CAN-02, HTTP-C-12
    #[inline]
    pub fn cancellation(id: &RequestId, mirrored: &MirroredHeaders) -> Option<Self> {
        if Method::from_name(&mirrored.method) == Some(Method::Initialize) {
            return None;
        }
        let cancelled = Cancelled::new(id.clone());
        Self::notification(&ClientNotification::Cancelled(cancelled), mirrored.version)
    }
}

/// Why a connection has ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CloseReason {
    /// This side has closed it.
    #[error("the client has closed the connection")]
    Local,
    /// The server has closed it.
    #[error("the server has closed the connection")]
    Remote,
    /// It broke; a server that was a child process has ended, and its last words are told.
    #[error("the connection broke: {0}")]
    Broken(String),
}

/// A request, ready to be sent.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OutgoingRequest {
    /// Its id.
    pub id: RequestId,
    /// Its text.
    pub body: Bytes,
    /// What a transport with headers repeats in them.
    pub mirrored: MirroredHeaders,
    /// Headers of the caller, for transports that have them.
    pub headers: http::HeaderMap,
}

impl OutgoingRequest {
    /// A request without headers of the caller.
    pub fn new(id: RequestId, body: impl Into<Bytes>, mirrored: MirroredHeaders) -> Self {
        Self {
            id,
            body: body.into(),
            mirrored,
            headers: http::HeaderMap::new(),
        }
    }
}

/// What a transport with headers repeats in them.
// spec: HTTP-C-04, HTTP-C-05
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MirroredHeaders {
    /// The revision that the request speaks.
    pub version: ProtocolVersion,
    /// The method.
    pub method: Box<str>,
    /// The tool, prompt or resource that it asks for.
    pub name: Option<Box<str>>,
    /// Arguments of a tool that [`ParamHeaders`](crate::ParamHeaders) names: the name of each
    /// one's header without the common prefix, and its value, not yet encoded.
    // spec: XHDR-02
    pub params: Vec<(Box<str>, Box<str>)>,
}

impl MirroredHeaders {
    /// A request for nothing in particular.
    pub fn new(version: ProtocolVersion, method: &str, name: Option<&str>) -> Self {
        Self {
            version,
            method: method.into(),
            name: name.map(Into::into),
            params: Vec::new(),
        }
    }

    /// Sets the arguments that are repeated.
    #[must_use]
    pub fn params(mut self, params: Vec<(Box<str>, Box<str>)>) -> Self {
        self.params = params;
        self
    }
}

/// One message from the server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Frame {
    /// Its text.
    pub message: Bytes,
    /// The HTTP status that it came with, where there is one: evidence for the era of a server.
    pub status: Option<http::StatusCode>,
}

impl Frame {
    /// A message without a status.
    pub fn new(message: impl Into<Bytes>) -> Self {
        Self {
            message: message.into(),
            status: None,
        }
    }

    /// Sets the status that it came with.
    #[must_use]
    pub fn status(mut self, status: http::StatusCode) -> Self {
        self.status = Some(status);
        self
    }
}

/// A request could not be sent, or its answer could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChannelError {
    /// The server could not be reached.
    #[error("cannot connect to {peer}")]
    Connect {
        /// The server.
        peer: String,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The connection broke before the answer was there.
    #[error("the connection broke before the answer was there")]
    Broken {
        /// Why.
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// The connection has ended: no call on it can succeed any more.
    #[error("the connection is closed: {0}")]
    Closed(CloseReason),
    /// The server has forgotten the session, and refused the request for it without having looked
    /// at what it asks. Requests that were running end as [`Broken`](Self::Broken).
    #[error("the server has ended the session")]
    SessionExpired,
    /// An HTTP status that is no answer of a Model Context Protocol server.
    #[error("HTTP status {status}{}", if excerpt.is_empty() { String::new() } else { format!(": {excerpt}") })]
    Status {
        /// The status.
        status: http::StatusCode,
        /// The beginning of the body.
        excerpt: String,
        /// How long to wait before asking again, when the server said so.
        retry_after: Option<std::time::Duration>,
    },
    /// The answer is longer than this client takes.
    #[error("the answer is longer than {limit} bytes; raise the limit or ask for less")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// The answer is no message of the protocol.
    #[error("malformed answer: {0}")]
    Malformed(String),
    /// The request itself cannot be sent: an invalid URL or header.
    #[error("cannot send the request: {0}")]
    Unsendable(String),
}

#[cfg(test)]
mod tests {
    use mcp_types::{ProtocolVersion, RequestId};

    use super::{MirroredHeaders, OneWayMessage};

    #[test]
    fn requests_are_taken_back_by_their_id() {
        for version in ProtocolVersion::ALL {
            let mirror = MirroredHeaders::new(version, "tools/call", Some("add"));
            let note = OneWayMessage::cancellation(&RequestId::from("a"), &mirror).unwrap();
            let text = std::str::from_utf8(&note.body).unwrap();
            assert!(
                text.contains(r#""method":"notifications/cancelled""#),
                "{text}"
            );
            assert!(text.contains(r#""requestId":"a""#), "{text}");
            assert_eq!(&*note.mirrored.method, "notifications/cancelled");
            let opening = MirroredHeaders::new(version, "initialize", None);
            assert!(OneWayMessage::cancellation(&RequestId::from(1), &opening).is_none());
        }
    }
}

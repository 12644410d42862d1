//! Encoded messages to a server, and frames from it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use mcp_types::{Cancelled, Meta, Method, ProtocolVersion, RawObject, RequestId};

use crate::connection::{ClientProfile, HeaderNames};
use crate::message::{ClientNotification, ClientRequest, ClientResponse};
use crate::wire::{self, ClientRequestContext};

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

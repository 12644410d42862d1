//! Messages that encode and decode themselves for a revision.

use mcp_types::{ErrorObject, Notification, ProtocolVersion, Request, RequestId, Response};

use super::{
    DecodeError, EncodedReply, ReplyTarget, legacy, modern, notifications, server_requests,
    write_error,
};
use crate::message::{
    ClientNotification, ClientRequest, Fault, Reply, ServerNotification, ServerRequest,
};

impl Fault {
    /// Returns the error object for a revision.
    pub fn to_error(&self, version: ProtocolVersion) -> ErrorObject {
        if version.is_modern() {
            modern::to_error(self)
        } else {
            legacy::to_error(self, version)
        }
    }

    /// Encodes the error response to a message that did not reach a service. `id` is `None` when
    /// the id could not be read.
    pub fn encode(&self, id: Option<&RequestId>, version: ProtocolVersion) -> Vec<u8> {
        let mut out = Vec::new();
        write_error(&mut out, id, &self.to_error(version));
        out
    }
}

impl ReplyTarget {
    /// Encodes a reply after the bytes in `head`.
    pub fn encode(&self, reply: Reply, head: Vec<u8>) -> EncodedReply {
        if self.version.is_modern() {
            modern::encode_reply(reply, self, head)
        } else {
            legacy::encode_reply(reply, self, head)
        }
    }
}

impl Reply {
    /// Decodes the response to `request`.
    ///
    /// # Errors
    ///
    /// Returns [`DecodeError`] when the result does not fit the method.
    #[inline]
    pub fn decode(
        request: &ClientRequest,
        response: &Response<'_>,
        version: ProtocolVersion,
    ) -> Result<Self, DecodeError> {
        decode_reply(request, response, version, false)
    }

    /// Decodes the response to `request`, except for the result content of `tools/call`,
    /// `resources/read` and `prompts/get`, which become a [`RawResult`](crate::RawResult).
    ///
    /// # Errors
    ///
    /// Returns [`DecodeError`] when the result does not fit the method.
    #[inline]
    pub fn decode_raw(
        request: &ClientRequest,
        response: &Response<'_>,
        version: ProtocolVersion,
    ) -> Result<Self, DecodeError> {
        decode_reply(request, response, version, true)
    }
}

#[inline]
fn decode_reply(
    request: &ClientRequest,
    response: &Response<'_>,
    version: ProtocolVersion,
    is_raw: bool,
) -> Result<Reply, DecodeError> {
    if version.is_modern() {
        modern::decode_reply(request, response, is_raw)
    } else {
        legacy::decode_reply(request, response, version, is_raw)
    }
}

impl ClientNotification {
    /// Decodes a client notification. Returns `None` when no client of the revision may send
    /// it, or when it is malformed.
    pub fn decode(notification: &Notification<'_>, version: ProtocolVersion) -> Option<Self> {
        notifications::read_client(notification, version)
    }
}

impl ServerNotification {
    /// Decodes a server notification. Returns `None` when no server of the revision may send
    /// it, or when it is malformed.
    #[inline]
    pub fn decode(notification: &Notification<'_>, version: ProtocolVersion) -> Option<Self> {
        notifications::read_server(notification, version)
    }

    /// Encodes the notification outside a subscription. Returns `None` when the revision does not
    /// have it, or sends it on the stream of a subscription only.
    pub fn encode(&self, version: ProtocolVersion) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        notifications::write_server(self, (None, None), version, &mut out).then_some(out)
    }
}

impl ServerRequest {
    /// Decodes a server request.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::NoSuchMethod`] when the revision does not have the request, and
    /// [`Fault::BadParams`] when the parameters do not fit it.
    #[inline]
    pub fn decode(request: &Request<'_>, version: ProtocolVersion) -> Result<Self, Fault> {
        server_requests::read(request, version)
    }
}

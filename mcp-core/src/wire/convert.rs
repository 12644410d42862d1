//! Messages that encode and decode themselves for a revision.

use mcp_types::{ErrorObject, Notification, ProtocolVersion, Request, RequestId, Response};

use super::{DecodeError, client_for_version, for_version};
use crate::{ClientNotification, ClientRequest, Fault, Reply, ServerNotification, ServerRequest};

impl Fault {
    /// Returns the error object for a revision.
    pub fn to_error(&self, version: ProtocolVersion) -> ErrorObject {
        for_version(version).error(self)
    }

    /// Encodes the error response to a message that did not reach a service. `id` is `None` when
    /// the id could not be read.
    pub fn encode(&self, id: Option<&RequestId>, version: ProtocolVersion) -> Vec<u8> {
        let mut out = Vec::new();
        for_version(version).encode_error(self, id, &mut out);
        out
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
        client_for_version(version).decode_reply(request, response)
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
        client_for_version(version).decode_raw_reply(request, response)
    }
}

impl ClientNotification {
    /// Decodes a client notification. Returns `None` when no client of the revision may send
    /// it, or when it is malformed.
    pub fn decode(notification: &Notification<'_>, version: ProtocolVersion) -> Option<Self> {
        for_version(version).decode_client_notification(notification)
    }
}

impl ServerNotification {
    /// Decodes a server notification. Returns `None` when no server of the revision may send
    /// it, or when it is malformed.
    #[inline]
    pub fn decode(notification: &Notification<'_>, version: ProtocolVersion) -> Option<Self> {
        client_for_version(version).decode_server_notification(notification)
    }

    /// Encodes the notification outside a subscription. Returns `None` when the revision does not
    /// have it, or sends it on the stream of a subscription only.
    pub fn encode(&self, version: ProtocolVersion) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        for_version(version)
            .encode_server_notification(self, None, None, &mut out)
            .then_some(out)
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
        client_for_version(version).decode_server_request(request)
    }
}

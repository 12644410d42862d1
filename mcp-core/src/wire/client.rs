//! The client's half of a wire.

use mcp_types::{Meta, Notification, Request, RequestId, Response};

use super::{ClientRequestContext, DecodeError, DecodedServerRequest, Wire};
use crate::{ClientNotification, ClientRequest, ClientResponse, Fault, Reply, ServerNotification};

/// The client's half of one protocol revision: encodes what a client sends and decodes what a
/// server sends.
///
/// [`client_for_version`](super::client_for_version) returns the implementation for a revision.
pub trait ClientWire: Wire {
    /// Encodes a request. A server refuses a method that the revision does not have.
    fn encode_request(
        &self,
        request: &ClientRequest,
        context: &ClientRequestContext<'_>,
    ) -> Vec<u8>;

    /// Decodes the response to `request`.
    ///
    /// # Errors
    ///
    /// Returns [`DecodeError`] when the result does not fit the method.
    fn decode_reply(
        &self,
        request: &ClientRequest,
        response: &Response<'_>,
    ) -> Result<Reply, DecodeError>;

    /// Decodes the response to `request`, except for the result content of `tools/call`, `resources/read` and
    /// `prompts/get`, which become a [`RawResult`](crate::RawResult).
    ///
    /// # Errors
    ///
    /// Returns [`DecodeError`] when the result does not fit the method.
    fn decode_raw_reply(
        &self,
        request: &ClientRequest,
        response: &Response<'_>,
    ) -> Result<Reply, DecodeError>;

    /// Decodes a notification of the server. Returns `None` when no server of this revision may
    /// send it, or when it is malformed.
    fn decode_server_notification(
        &self,
        notification: &Notification<'_>,
    ) -> Option<ServerNotification>;

    /// Returns the id of the `subscriptions/listen` request that a notification belongs to.
    fn subscription_id(&self, notification: &Notification<'_>) -> Option<RequestId>;

    /// Encodes a notification of the client, with further keys of `_meta`. Returns false and writes
    /// nothing when the revision does not have it.
    #[must_use = "false means that nothing was written"]
    fn encode_client_notification(
        &self,
        notification: &ClientNotification,
        meta: Option<&Meta>,
        out: &mut Vec<u8>,
    ) -> bool;

    /// Decodes a request of the server.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::NoSuchMethod`] when the revision does not have the request, and
    /// [`Fault::BadParams`] when the parameters do not fit it.
    fn decode_server_request(&self, request: &Request<'_>) -> Result<DecodedServerRequest, Fault>;

    /// Encodes the response to a request of the server. Returns false and writes nothing in
    /// 2026-07-28, which has no requests of servers.
    #[must_use = "false means that nothing was written"]
    fn encode_client_response(
        &self,
        response: &ClientResponse,
        id: &RequestId,
        out: &mut Vec<u8>,
    ) -> bool;
}

//! The encoders and decoders of a revision.

use std::fmt::Debug;

use mcp_types::{ErrorObject, Meta, Notification, ProtocolVersion, Request, RequestId, Response};

use super::{
    ClientRequestContext, DecodeError, DecodedRequest, EncodedReply, ReplyContext,
    ServerRequestContext,
};
use crate::{
    ClientNotification, ClientRequest, ClientResponse, Fault, Reply, ServerNotification,
    ServerRequest,
};

/// One protocol revision, as servers use it.
///
/// Encoders write only what the revision has. Values lose the fields that an older peer does not
/// know, and messages that the revision does not have are refused.
///
/// [`for_version`](super::for_version) returns the implementation for a revision.
pub(crate) trait Wire: Debug + Send + Sync {
    /// Returns the revision.
    fn version(&self) -> ProtocolVersion;

    /// Decodes a client request.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::NoSuchMethod`] when the revision does not have the method, and
    /// [`Fault::BadParams`] when the parameters do not fit it.
    fn decode_request(&self, request: &Request<'_>) -> Result<DecodedRequest, Fault>;

    /// Encodes the response to a request, after the bytes that `head` already holds.
    fn encode_reply(&self, reply: Reply, context: &ReplyContext<'_>, head: Vec<u8>)
    -> EncodedReply;

    /// Converts a fault into this revision's error object.
    fn error(&self, fault: &Fault) -> ErrorObject;

    /// Encodes the error response to a message that did not reach a service. `id` is `None` when
    /// the id could not be read.
    fn encode_error(&self, fault: &Fault, id: Option<&RequestId>, out: &mut Vec<u8>);

    /// Encodes a server notification, with further keys of `_meta`.
    ///
    /// `subscription` is the id of the `subscriptions/listen` request whose stream carries it.
    /// Revisions with sessions ignore it.
    ///
    /// Returns false and writes nothing when the revision does not have the notification, or does
    /// not allow it on that stream.
    #[must_use = "false means that nothing was written"]
    fn encode_server_notification(
        &self,
        notification: &ServerNotification,
        subscription: Option<&RequestId>,
        meta: Option<&Meta>,
        out: &mut Vec<u8>,
    ) -> bool;

    /// Decodes a client notification. Returns `None` when no client of this revision may
    /// send it, or when it is malformed.
    fn decode_client_notification(
        &self,
        notification: &Notification<'_>,
    ) -> Option<ClientNotification>;

    /// Encodes a request to a session's client.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::NoSuchMethod`] when the revision does not have the request (2026-07-28 has
    /// none), and [`Fault::MissingCapability`] when its clients cannot have the capability that the
    /// request needs.
    // spec: BASE-18
    fn encode_server_request(
        &self,
        request: &ServerRequest,
        context: &ServerRequestContext<'_>,
    ) -> Result<Vec<u8>, Fault>;

    /// Decodes the client's response to `request`.
    ///
    /// # Errors
    ///
    /// Returns [`DecodeError`] when the result does not fit the method.
    fn decode_client_response(
        &self,
        request: &ServerRequest,
        response: &Response<'_>,
    ) -> Result<ClientResponse, DecodeError>;
}

/// One protocol revision, as clients use it. It is a trait of its own, so that a server does not
/// contain the result decoders.
///
/// Its methods and all that only they call are `#[inline]`: the crates that call them compile them, and a
/// server does not.
pub(crate) trait ClientWire: Debug + Send + Sync {
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

    /// Decodes a server notification. Returns `None` when no server of this revision may
    /// send it, or when it is malformed.
    fn decode_server_notification(
        &self,
        notification: &Notification<'_>,
    ) -> Option<ServerNotification>;

    /// Encodes a client notification, with further keys of `_meta`. Returns false and writes
    /// nothing when the revision does not have it.
    #[must_use = "false means that nothing was written"]
    fn encode_client_notification(
        &self,
        notification: &ClientNotification,
        meta: Option<&Meta>,
        out: &mut Vec<u8>,
    ) -> bool;

    /// Decodes a server request.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::NoSuchMethod`] when the revision does not have the request, and
    /// [`Fault::BadParams`] when the parameters do not fit it.
    fn decode_server_request(&self, request: &Request<'_>) -> Result<ServerRequest, Fault>;

    /// Encodes the response to a server request. Returns false and writes nothing in
    /// 2026-07-28, which has no server requests.
    #[must_use = "false means that nothing was written"]
    fn encode_client_response(
        &self,
        response: &ClientResponse,
        id: &RequestId,
        out: &mut Vec<u8>,
    ) -> bool;
}

//! The wire of 2026-07-28: everything a request needs is in it.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic>

mod decode;
mod encode;
mod envelope;
mod errors;

use mcp_types::{ErrorObject, Notification, ProtocolVersion, Request, RequestId, Response};

use super::{
    ClientRequestContext, DecodeError, DecodedRequest, DecodedServerRequest, EncodedReply,
    ReplyContext, ServerRequestContext, Wire, notes, write_error,
};
use crate::{
    ClientNotification, ClientRequest, ClientResponse, Fault, Reply, ServerNotification,
    ServerRequest,
};

pub use envelope::Envelope;

#[derive(Debug)]
pub(super) struct Modern;

impl Wire for Modern {
    fn version(&self) -> ProtocolVersion {
        VERSION
    }

    fn decode_request(&self, request: &Request<'_>) -> Result<DecodedRequest, Fault> {
        decode::call(request)
    }

    fn encode_reply(&self, reply: Reply, to: &ReplyContext<'_>, head: Vec<u8>) -> EncodedReply {
        encode::reply(reply, to, head)
    }

    fn error(&self, fault: &Fault) -> ErrorObject {
        errors::to_error(fault)
    }

    fn encode_error(&self, fault: &Fault, id: Option<&RequestId>, out: &mut Vec<u8>) {
        write_error(out, id, &errors::to_error(fault));
    }

    fn encode_server_notification(
        &self,
        note: &ServerNotification,
        subscription: Option<&RequestId>,
        out: &mut Vec<u8>,
    ) -> bool {
        notes::write_server(note, subscription, VERSION, out)
    }

    fn decode_client_notification(&self, note: &Notification<'_>) -> Option<ClientNotification> {
        notes::read_client(note, VERSION)
    }

    // spec: BASE-17
    fn encode_server_request(
        &self,
        ask: &ServerRequest,
        _: &ServerRequestContext<'_>,
    ) -> Result<Vec<u8>, Fault> {
        Err(Fault::no_such_method(ask.method_name()))
    }

    fn decode_client_response(
        &self,
        asked: &ServerRequest,
        _: &Response<'_>,
    ) -> Result<ClientResponse, DecodeError> {
        let reason = "nothing is asked this way in the modern era";
        Err(DecodeError::malformed(asked.method(), reason))
    }
}

/// The half of clients.
impl Modern {
    #[inline]
    pub(super) fn encode_request(
        &self,
        asked: &ClientRequest,
        from: &ClientRequestContext<'_>,
    ) -> Vec<u8> {
        encode::call(asked, from)
    }

    #[inline]
    pub(super) fn decode_reply(
        &self,
        asked: &ClientRequest,
        response: &Response<'_>,
    ) -> Result<Reply, DecodeError> {
        decode::reply(asked, response)
    }

    #[inline]
    pub(super) fn decode_server_notification(
        &self,
        note: &Notification<'_>,
    ) -> Option<ServerNotification> {
        notes::read_server(note, VERSION)
    }

    #[inline]
    pub(super) fn subscription_id(&self, note: &Notification<'_>) -> Option<RequestId> {
        notes::subscription(note)
    }

    #[inline]
    pub(super) fn encode_client_notification(
        &self,
        note: &ClientNotification,
        out: &mut Vec<u8>,
    ) -> bool {
        notes::write_client(note, VERSION, out)
    }

    #[inline]
    pub(super) fn decode_server_request(
        &self,
        request: &Request<'_>,
    ) -> Result<DecodedServerRequest, Fault> {
        Err(Fault::no_such_method(&*request.method))
    }

    #[inline]
    pub(super) fn encode_client_response(
        &self,
        _: &ClientResponse,
        _: &RequestId,
        _: &mut Vec<u8>,
    ) -> bool {
        false
    }
}

/// The revision of this wire.
const VERSION: ProtocolVersion = ProtocolVersion::V2026_07_28;

pub(super) use errors::{to_error as error, to_fault as fault};

/// The kinds of results that the specification itself has.
mod result_type {
    pub(super) const COMPLETE: &str = "complete";
    pub(super) const INPUT_REQUIRED: &str = "input_required";
}

#[cfg(test)]
mod tests;

//! The wire of 2026-07-28, whose requests are self-contained.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic>

mod constants;
mod decode;
mod encode;
mod envelope;
mod errors;

use mcp_types::{ErrorObject, Meta, Notification, ProtocolVersion, Request, RequestId, Response};

use super::{
    ClientRequestContext, ClientWire, DecodeError, DecodedRequest, EncodedReply, ReplyContext,
    ServerRequestContext, Wire, notifications, write_error,
};
use crate::{
    ClientNotification, ClientRequest, ClientResponse, Fault, Reply, ServerNotification,
    ServerRequest,
};

use constants::VERSION;
pub(super) use encode::write_request_meta;
pub(crate) use envelope::Envelope;
pub(super) use errors::{to_error, to_fault, with_uri};

#[derive(Debug)]
pub(super) struct Modern;

impl Wire for Modern {
    fn version(&self) -> ProtocolVersion {
        VERSION
    }

    fn decode_request(&self, request: &Request<'_>) -> Result<DecodedRequest, Fault> {
        decode::request(request)
    }

    fn encode_reply(
        &self,
        reply: Reply,
        context: &ReplyContext<'_>,
        head: Vec<u8>,
    ) -> EncodedReply {
        encode::reply(reply, context, head)
    }

    fn error(&self, fault: &Fault) -> ErrorObject {
        to_error(fault)
    }

    fn encode_error(&self, fault: &Fault, id: Option<&RequestId>, out: &mut Vec<u8>) {
        write_error(out, id, &to_error(fault));
    }

    fn encode_server_notification(
        &self,
        notification: &ServerNotification,
        subscription: Option<&RequestId>,
        meta: Option<&Meta>,
        out: &mut Vec<u8>,
    ) -> bool {
        notifications::write_server(notification, (subscription, meta), VERSION, out)
    }

    fn decode_client_notification(
        &self,
        notification: &Notification<'_>,
    ) -> Option<ClientNotification> {
        notifications::read_client(notification, VERSION)
    }

    // spec: BASE-17, STDIO-08, TRN-05, HTTP-SM-13
    fn encode_server_request(
        &self,
        request: &ServerRequest,
        _: &ServerRequestContext<'_>,
    ) -> Result<Vec<u8>, Fault> {
        Err(Fault::no_such_method(request.method_name()))
    }

    fn decode_client_response(
        &self,
        request: &ServerRequest,
        _: &Response<'_>,
    ) -> Result<ClientResponse, DecodeError> {
        let reason = "servers send no requests in this revision";
        Err(DecodeError::malformed(request.method(), reason))
    }
}

impl ClientWire for Modern {
    #[inline]
    fn encode_request(
        &self,
        request: &ClientRequest,
        context: &ClientRequestContext<'_>,
    ) -> Vec<u8> {
        encode::request(request, context)
    }

    #[inline]
    fn decode_reply(
        &self,
        request: &ClientRequest,
        response: &Response<'_>,
    ) -> Result<Reply, DecodeError> {
        decode::reply(request, response, false)
    }

    #[inline]
    fn decode_raw_reply(
        &self,
        request: &ClientRequest,
        response: &Response<'_>,
    ) -> Result<Reply, DecodeError> {
        decode::reply(request, response, true)
    }

    #[inline]
    fn decode_server_notification(
        &self,
        notification: &Notification<'_>,
    ) -> Option<ServerNotification> {
        notifications::read_server(notification, VERSION)
    }

    #[inline]
    fn encode_client_notification(
        &self,
        notification: &ClientNotification,
        meta: Option<&Meta>,
        out: &mut Vec<u8>,
    ) -> bool {
        notifications::write_client(notification, meta, VERSION, out)
    }

    fn decode_server_request(&self, request: &Request<'_>) -> Result<ServerRequest, Fault> {
        Err(Fault::no_such_method(&*request.method))
    }

    // spec: BASE-17, STDIO-07, HTTP-C-06, TRN-05
    fn encode_client_response(&self, _: &ClientResponse, _: &RequestId, _: &mut Vec<u8>) -> bool {
        false
    }
}

#[cfg(test)]
mod tests;

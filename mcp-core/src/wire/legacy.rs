//! The wires of the revisions with sessions, 2024-11-05 to 2025-11-25: one value per revision.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-11-25/basic>

pub mod batch;
mod decode;
mod encode;
mod errors;

use mcp_types::{ErrorObject, Meta, Notification, ProtocolVersion, Request, RequestId, Response};

use super::server::sealed::Sealed;
use super::{
    ClientRequestContext, ClientWire, DecodeError, DecodedRequest, DecodedServerRequest,
    EncodedReply, ReplyContext, ServerRequestContext, Wire, notifications, server_requests,
    write_error,
};
use crate::{
    ClientNotification, ClientRequest, ClientResponse, Fault, Reply, ServerNotification,
    ServerRequest,
};

/// The wire of one revision with sessions.
#[derive(Debug)]
pub(super) struct Legacy {
    version: ProtocolVersion,
}

impl Sealed for Legacy {}

static WIRES: [Legacy; 4] = [
    Legacy {
        version: ProtocolVersion::V2025_11_25,
    },
    Legacy {
        version: ProtocolVersion::V2025_06_18,
    },
    Legacy {
        version: ProtocolVersion::V2025_03_26,
    },
    Legacy {
        version: ProtocolVersion::V2024_11_05,
    },
];

/// Returns the wire of a revision, or `None` when the revision has no sessions.
pub(super) fn for_version(version: ProtocolVersion) -> Option<&'static Legacy> {
    WIRES.iter().find(|wire| wire.version == version)
}

impl Wire for Legacy {
    fn version(&self) -> ProtocolVersion {
        self.version
    }

    fn decode_request(&self, request: &Request<'_>) -> Result<DecodedRequest, Fault> {
        decode::request(request, self.version)
    }

    fn encode_reply(
        &self,
        reply: Reply,
        context: &ReplyContext<'_>,
        head: Vec<u8>,
    ) -> EncodedReply {
        encode::reply(reply, context, self.version, head)
    }

    fn error(&self, fault: &Fault) -> ErrorObject {
        errors::to_error(fault, self.version)
    }

    fn encode_error(&self, fault: &Fault, id: Option<&RequestId>, out: &mut Vec<u8>) {
        write_error(out, id, &self.error(fault));
    }

    fn encode_server_notification(
        &self,
        notification: &ServerNotification,
        subscription: Option<&RequestId>,
        meta: Option<&Meta>,
        out: &mut Vec<u8>,
    ) -> bool {
        notifications::write_server(notification, (subscription, meta), self.version, out)
    }

    fn decode_client_notification(
        &self,
        notification: &Notification<'_>,
    ) -> Option<ClientNotification> {
        notifications::read_client(notification, self.version)
    }

    fn encode_server_request(
        &self,
        request: &ServerRequest,
        context: &ServerRequestContext<'_>,
    ) -> Result<Vec<u8>, Fault> {
        server_requests::write(request, context, self.version)
    }

    fn decode_client_response(
        &self,
        request: &ServerRequest,
        response: &Response<'_>,
    ) -> Result<ClientResponse, DecodeError> {
        match &response.outcome {
            Ok(result) => server_requests::read_result(request, *result, self.version),
            Err(error) => {
                let fault = errors::client_error_to_fault(error.clone(), request.method());
                Ok(ClientResponse::Fault(fault))
            }
        }
    }
}

impl ClientWire for Legacy {
    fn encode_request(
        &self,
        request: &ClientRequest,
        context: &ClientRequestContext<'_>,
    ) -> Vec<u8> {
        encode::request(request, context, self.version)
    }

    fn decode_reply(
        &self,
        request: &ClientRequest,
        response: &Response<'_>,
    ) -> Result<Reply, DecodeError> {
        decode::reply(request, response, self.version, false)
    }

    fn decode_raw_reply(
        &self,
        request: &ClientRequest,
        response: &Response<'_>,
    ) -> Result<Reply, DecodeError> {
        decode::reply(request, response, self.version, true)
    }

    fn decode_server_notification(
        &self,
        notification: &Notification<'_>,
    ) -> Option<ServerNotification> {
        notifications::read_server(notification, self.version)
    }

    fn subscription_id(&self, _: &Notification<'_>) -> Option<RequestId> {
        None
    }

    fn encode_client_notification(
        &self,
        notification: &ClientNotification,
        meta: Option<&Meta>,
        out: &mut Vec<u8>,
    ) -> bool {
        notifications::write_client(notification, meta, self.version, out)
    }

    fn decode_server_request(&self, request: &Request<'_>) -> Result<DecodedServerRequest, Fault> {
        server_requests::read(request, self.version)
    }

    fn encode_client_response(
        &self,
        response: &ClientResponse,
        id: &RequestId,
        out: &mut Vec<u8>,
    ) -> bool {
        match response {
            ClientResponse::Pong => server_requests::write_pong(id, out),
            ClientResponse::Input(input) => {
                server_requests::write_response(input, id, self.version, out);
            }
            ClientResponse::Fault(fault) => self.encode_error(fault, Some(id), out),
        }
        true
    }
}

#[cfg(test)]
mod tests;

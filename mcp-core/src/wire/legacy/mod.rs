//! The wires of the revisions with sessions: 2024-11-05 to 2025-11-25. One value per revision;
//! what an older peer may not see is left out by `wire/narrow`.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-11-25/basic>

pub mod batch;
mod decode;
mod encode;
mod errors;

use mcp_types::{ErrorObject, Notification, ProtocolVersion, Request, RequestId, Response};

use super::{
    ClientRequestContext, DecodeError, DecodedRequest, DecodedServerRequest, EncodedReply,
    ReplyContext, ServerRequestContext, Wire, asks, notes, write_error,
};
use crate::{
    ClientNotification, ClientRequest, ClientResponse, Fault, Reply, ServerNotification,
    ServerRequest,
};

/// The wire of one revision.
#[derive(Debug)]
pub(super) struct Legacy {
    version: ProtocolVersion,
}

/// One value per revision, newest first.
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

/// The wire of a revision, when it is one of this era.
pub(super) fn of(version: ProtocolVersion) -> Option<&'static dyn Wire> {
    find(version).map(|wire| wire as &dyn Wire)
}

pub(super) fn find(version: ProtocolVersion) -> Option<&'static Legacy> {
    WIRES.iter().find(|wire| wire.version == version)
}

impl Wire for Legacy {
    fn version(&self) -> ProtocolVersion {
        self.version
    }

    fn decode_request(&self, request: &Request<'_>) -> Result<DecodedRequest, Fault> {
        decode::call(request, self.version)
    }

    fn encode_reply(&self, reply: Reply, to: &ReplyContext<'_>, head: Vec<u8>) -> EncodedReply {
        encode::reply(reply, to, self.version, head)
    }

    fn error(&self, fault: &Fault) -> ErrorObject {
        errors::to_error(fault, self.version)
    }

    fn encode_error(&self, fault: &Fault, id: Option<&RequestId>, out: &mut Vec<u8>) {
        write_error(out, id, &self.error(fault));
    }

    fn encode_server_notification(
        &self,
        note: &ServerNotification,
        subscription: Option<&RequestId>,
        out: &mut Vec<u8>,
    ) -> bool {
        notes::write_server(note, subscription, self.version, out)
    }

    fn decode_client_notification(&self, note: &Notification<'_>) -> Option<ClientNotification> {
        notes::read_client(note, self.version)
    }

    fn encode_server_request(
        &self,
        ask: &ServerRequest,
        from: &ServerRequestContext<'_>,
    ) -> Result<Vec<u8>, Fault> {
        asks::write(ask, from, self.version)
    }

    fn decode_client_response(
        &self,
        asked: &ServerRequest,
        response: &Response<'_>,
    ) -> Result<ClientResponse, DecodeError> {
        asks::read_answer(asked, response, self.version, |error| {
            errors::of_client(error, asked.method())
        })
    }
}

/// The half of clients.
impl Legacy {
    #[inline]
    pub(super) fn encode_request(
        &self,
        asked: &ClientRequest,
        from: &ClientRequestContext<'_>,
    ) -> Vec<u8> {
        encode::call(asked, from, self.version)
    }

    #[inline]
    pub(super) fn decode_reply(
        &self,
        asked: &ClientRequest,
        response: &Response<'_>,
    ) -> Result<Reply, DecodeError> {
        decode::reply(asked, response, self.version)
    }

    #[inline]
    pub(super) fn decode_server_notification(
        &self,
        note: &Notification<'_>,
    ) -> Option<ServerNotification> {
        notes::read_server(note, self.version)
    }

    #[inline]
    pub(super) fn subscription_id(&self, _: &Notification<'_>) -> Option<RequestId> {
        None
    }

    #[inline]
    pub(super) fn encode_client_notification(
        &self,
        note: &ClientNotification,
        out: &mut Vec<u8>,
    ) -> bool {
        notes::write_client(note, self.version, out)
    }

    #[inline]
    pub(super) fn decode_server_request(
        &self,
        request: &Request<'_>,
    ) -> Result<DecodedServerRequest, Fault> {
        asks::read(request, self.version)
    }

    #[inline]
    pub(super) fn encode_client_response(
        &self,
        answer: &ClientResponse,
        id: &RequestId,
        out: &mut Vec<u8>,
    ) -> bool {
        match answer {
            ClientResponse::Pong => asks::write_pong(id, out),
            ClientResponse::Input(response) => asks::write_answer(response, id, self.version, out),
            ClientResponse::Fault(fault) => self.encode_error(fault, Some(id), out),
        }
        true
    }
}

#[cfg(test)]
mod tests;

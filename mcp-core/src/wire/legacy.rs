//! The wires of the revisions with sessions, 2024-11-05 to 2025-11-25: one value per revision.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-11-25/basic>

pub(crate) mod batch;
mod encode;
mod errors;

use mcp_types::{
    ErrorObject, Meta, Method, Notification, ProtocolVersion, RawJson, Request, RequestId, Response,
};

use super::{
    ClientRequestContext, ClientWire, DecodeError, DecodedRequest, EncodedReply, ReplyContext,
    ServerRequestContext, Wire, calls, notifications, raw, results, server_requests, sessions,
    write_error,
};
use crate::{
    ClientNotification, ClientRequest, ClientResponse, Fault, Reply, ResultBody,
    ServerNotification, ServerRequest,
};

/// The wire of one revision with sessions.
#[derive(Debug)]
pub(super) struct Legacy {
    version: ProtocolVersion,
}

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

impl Legacy {
    /// Decodes the response to `request`. Legacy results have no `resultType`.
    // spec: BASE-26
    fn reply(
        &self,
        request: &ClientRequest,
        response: &Response<'_>,
        read: impl FnOnce(Option<Method>, RawJson<'_>) -> Result<ResultBody, DecodeError>,
    ) -> Result<Reply, DecodeError> {
        let method = request.method();
        match &response.outcome {
            Ok(json) => read(method, *json).map(Reply::from),
            Err(error) => {
                let fault = errors::to_fault(error.clone(), method, self.version);
                Ok(Reply::Fault(fault))
            }
        }
    }
}

impl Wire for Legacy {
    fn version(&self) -> ProtocolVersion {
        self.version
    }

    fn decode_request(&self, request: &Request<'_>) -> Result<DecodedRequest, Fault> {
        let method = Method::from_name(&request.method);
        let decoded = match sessions::read(request, method)? {
            Some(session_request) => ClientRequest::Session(session_request),
            None => ClientRequest::Call(calls::read(request, method, self.version)?),
        };
        let mut decoded = DecodedRequest::new(decoded);
        decoded.meta = request.params.object("_meta")?;
        decoded.progress_token = server_requests::progress_token(&request.params);
        Ok(decoded)
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
    #[inline]
    fn encode_request(
        &self,
        request: &ClientRequest,
        context: &ClientRequestContext<'_>,
    ) -> Vec<u8> {
        encode::request(request, context, self.version)
    }

    #[inline]
    fn decode_reply(
        &self,
        request: &ClientRequest,
        response: &Response<'_>,
    ) -> Result<Reply, DecodeError> {
        self.reply(request, response, results::read)
    }

    #[inline]
    fn decode_raw_reply(
        &self,
        request: &ClientRequest,
        response: &Response<'_>,
    ) -> Result<Reply, DecodeError> {
        self.reply(request, response, |method, json| {
            raw::read(method, json, self.version, None)
        })
    }

    #[inline]
    fn decode_server_notification(
        &self,
        notification: &Notification<'_>,
    ) -> Option<ServerNotification> {
        notifications::read_server(notification, self.version)
    }

    #[inline]
    fn encode_client_notification(
        &self,
        notification: &ClientNotification,
        meta: Option<&Meta>,
        out: &mut Vec<u8>,
    ) -> bool {
        notifications::write_client(notification, meta, self.version, out)
    }

    #[inline]
    fn decode_server_request(&self, request: &Request<'_>) -> Result<ServerRequest, Fault> {
        server_requests::read(request, self.version)
    }

    #[inline]
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

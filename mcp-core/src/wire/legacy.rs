//! The wires of the revisions with sessions, 2024-11-05 to 2025-11-25.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-11-25/basic>

pub(crate) mod batch;
mod encode;
mod errors;

use mcp_types::{Method, ProtocolVersion, Request, Response};

use super::{DecodeError, DecodedRequest, params, raw, results, server_requests, sessions};
use crate::message::{ClientRequest, Fault, Reply};

pub(super) use encode::{reply as encode_reply, request as encode_request};
pub(super) use errors::to_error;

/// Decodes a client request.
pub(super) fn decode_request(
    request: &Request<'_>,
    version: ProtocolVersion,
) -> Result<DecodedRequest, Fault> {
    let method = Method::from_name(&request.method);
    let decoded = match sessions::read(request, method)? {
        Some(session_request) => ClientRequest::Session(session_request),
        None => ClientRequest::Call(params::read(request, method, version)?),
    };
    let mut decoded = DecodedRequest::new(decoded);
    decoded.meta = request.params.object("_meta")?;
    decoded.progress_token = server_requests::progress_token(&request.params);
    Ok(decoded)
}

/// Decodes the response to `request`. Legacy results have no `resultType`.
// spec: BASE-26
#[inline]
pub(super) fn decode_reply(
    request: &ClientRequest,
    response: &Response<'_>,
    version: ProtocolVersion,
    is_raw: bool,
) -> Result<Reply, DecodeError> {
    let method = request.method();
    let body = match &response.outcome {
        Ok(json) if is_raw => raw::read(method, *json, version, None),
        Ok(json) => results::read(method, *json),
        Err(error) => {
            let fault = errors::to_fault(error.clone(), method, version);
            return Ok(Reply::Fault(fault));
        }
    };
    body.map(Reply::from)
}

#[cfg(test)]
mod tests;

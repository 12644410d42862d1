//! Decoding of legacy requests and responses.

use mcp_types::{Method, ProtocolVersion, Request, Response};

use super::errors;
use crate::wire::{DecodeError, DecodedRequest, calls, raw, results, server_requests, sessions};
use crate::{ClientRequest, Fault, Reply};

/// Decodes a request of a client.
pub(super) fn request(
    request: &Request<'_>,
    version: ProtocolVersion,
) -> Result<DecodedRequest, Fault> {
    let method = Method::from_name(&request.method);
    let decoded = match sessions::read(request, method)? {
        Some(session_request) => ClientRequest::Session(session_request),
        None => ClientRequest::Call(calls::read(request, method, version)?),
    };
    let mut decoded = DecodedRequest::new(decoded);
    decoded.meta = request.params.object("_meta")?;
    decoded.progress_token = server_requests::progress_token(&request.params);
    Ok(decoded)
}

/// Decodes the response to `request`. Legacy results have no `resultType`. The content of a raw result is not decoded.
// spec: BASE-26
pub(super) fn reply(
    request: &ClientRequest,
    response: &Response<'_>,
    version: ProtocolVersion,
    is_raw: bool,
) -> Result<Reply, DecodeError> {
    let method = request.method();
    match &response.outcome {
        Ok(json) if is_raw => raw::read(method, *json, version, None).map(Reply::from),
        Ok(json) => results::read(method, *json).map(Reply::from),
        Err(error) => Ok(Reply::Fault(errors::to_fault(
            error.clone(),
            method,
            version,
        ))),
    }
}

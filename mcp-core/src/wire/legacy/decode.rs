//! Reading legacy messages.

use mcp_types::{ProtocolVersion, Request, Response};

use super::errors;
use crate::wire::{DecodeError, DecodedRequest, asks, calls, results, sessions};
use crate::{ClientRequest, Fault, Reply};

/// Reads what a request asks.
pub(super) fn call(
    request: &Request<'_>,
    version: ProtocolVersion,
) -> Result<DecodedRequest, Fault> {
    let asked = match sessions::read(request)? {
        Some(call) => ClientRequest::Session(call),
        None => ClientRequest::Call(calls::read(request, version)?),
    };
    let mut decoded = DecodedRequest::new(asked);
    decoded.meta = request.params.object("_meta")?;
    decoded.progress_token = asks::progress_token(&request.params);
    Ok(decoded)
}

/// Reads an answer by the method that was asked. There is one kind of result.
// spec: BASE-26
#[inline]
pub(super) fn reply(
    asked: &ClientRequest,
    response: &Response<'_>,
    version: ProtocolVersion,
) -> Result<Reply, DecodeError> {
    let method = asked.method();
    match &response.outcome {
        Ok(raw) => results::read(method, *raw).map(Reply::from),
        Err(error) => Ok(Reply::Fault(errors::to_fault(
            error.clone(),
            method,
            version,
        ))),
    }
}

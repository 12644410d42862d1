//! Reading legacy messages.

use mcp_types::meta::keys;
use mcp_types::{Meta, ProtocolVersion, Request, Response};

use super::errors;
use crate::wire::{DecodeError, Decoded, calls, results};
use crate::{Asked, Fault, InputState, Reply};

/// Reads a call. What opens and tends a session is read by the session itself.
pub(super) fn call(request: &Request<'_>, version: ProtocolVersion) -> Result<Decoded, Fault> {
    let asked = Asked::Call(calls::read(request, version)?);
    let meta: Option<Meta> = request.params.optional("_meta")?;
    let progress_token = meta.and_then(|meta| meta.get(keys::PROGRESS_TOKEN));
    Ok(Decoded {
        asked,
        input: InputState::default(),
        progress_token,
    })
}

/// Reads an answer by the method that was asked. There is one kind of result.
// spec: BASE-26
pub(super) fn reply(asked: &Asked, response: &Response<'_>) -> Result<Reply, DecodeError> {
    match &response.outcome {
        Ok(raw) => results::read(asked.method(), raw).map(Reply::from),
        Err(error) => Ok(Reply::Fault(errors::to_fault(error.clone()))),
    }
}

//! Server requests, and the client responses. Only revisions with sessions have them.

use std::fmt;

use mcp_types::meta::keys;
use mcp_types::{
    ElicitParams, ErrorObject, InputRequest, InputResponse, JsonObject, Meta, Method, MethodKind,
    Params, ProgressToken, ProtocolVersion, RawObject, Request, RequestId, Response, Sender, codes,
};

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    DecodeError, RequestHead, ServerRequestContext, narrow, splice_json, write_error, write_json,
    write_request, write_scalar,
};
use crate::deserialize::{self, DeserializeError};
use crate::message::{ClientResponse, Fault, ServerRequest};

/// Returns true if a server of this revision may send requests of this method.
// spec: BASE-17, LIFE-09, STDIO-08, TRN-05, HTTP-SM-13
fn exists(method: Option<Method>, version: ProtocolVersion) -> bool {
    let is_sent = |method: Method| {
        let spec = method.spec();
        spec.kind == MethodKind::Request && spec.exists_in(version) && spec.sender != Sender::Client
    };
    !version.is_modern() && method.is_none_or(is_sent)
}

/// Encodes a server request.
///
/// # Errors
///
/// Returns [`Fault::NoSuchMethod`] or [`Fault::MissingCapability`] when a client of this revision
/// does not support the request.
// spec: BASE-18
pub(crate) fn write(
    request: &ServerRequest,
    context: &ServerRequestContext<'_>,
    to: ProtocolVersion,
) -> Result<Vec<u8>, Fault> {
    let input = match request {
        ServerRequest::Ping => None,
        ServerRequest::Input(input) => {
            Some(narrow::input_request(input, to, context.capabilities)?)
        }
    };
    if !exists(request.method(), to) {
        return Err(Fault::no_such_method(request.method_name()));
    }
    let head = RequestHead::from_server(request.method_name(), context);
    Ok(match input {
        Some(mut request) => {
            if let InputRequest::Elicit(params) = &mut request
                && let ElicitParams::Url(url) = &mut **params
                && to.has_elicitation_id()
            {
                // The id is required there. The id of the request serves as a default.
                let id = &mut url.elicitation_id;
                // spec: ELIC-08
                id.get_or_insert_with(|| context.id.to_string());
            }
            let meta = take_meta(&mut request);
            let params = request.params_to_raw();
            debug_assert!(params.is_ok(), "{params:?}");
            let params = params.unwrap_or_default();
            write_request(&head, meta, |out| splice_json(out, &params))
        }
        None => write_request(&head, None, |out| out.push(b'}')),
    })
}

fn take_meta(request: &mut InputRequest) -> Option<Meta> {
    match request {
        InputRequest::Elicit(params) => match &mut **params {
            ElicitParams::Form(form) => form.meta.take(),
            ElicitParams::Url(url) => url.meta.take(),
            ElicitParams::Other(members) => take_member(members),
            _ => None,
        },
        InputRequest::CreateMessage(params) => params.meta.take(),
        InputRequest::Other { params, .. } => take_member(params.as_mut()?),
        _ => None,
    }
}

fn take_member(params: &mut JsonObject) -> Option<Meta> {
    match params.shift_remove("_meta")? {
        Value::Object(meta) => Some(meta.into()),
        _ => None,
    }
}

/// Decodes a server request.
// spec: BASE-20
#[inline]
pub(super) fn read(request: &Request<'_>, from: ProtocolVersion) -> Result<ServerRequest, Fault> {
    let method = Method::from_name(&request.method);
    if !exists(method, from) {
        return Err(Fault::no_such_method(&*request.method));
    }
    let raw = &request.params;
    raw.object("_meta")?;
    Ok(match method {
        Some(Method::Ping) => ServerRequest::Ping,
        Some(Method::Elicit) => ServerRequest::Input(InputRequest::Elicit(params(request)?)),
        Some(Method::CreateMessage) => {
            ServerRequest::Input(InputRequest::CreateMessage(params(request)?))
        }
        Some(Method::ListRoots) => ServerRequest::Input(InputRequest::ListRoots),
        _ => ServerRequest::Input(InputRequest::Other {
            method: (*request.method).to_owned(),
            params: (raw.iter().len() > 0)
                .then(|| params(request))
                .transpose()?,
        }),
    })
}

/// Returns the token under which the sender of a request wants progress. A malformed token is
/// ignored.
// spec: META-06, PROG-01
pub(super) fn progress_token(params: &Params<'_>) -> Option<ProgressToken> {
    serde_json::from_str(params.meta(keys::PROGRESS_TOKEN)?.as_str()).ok()
}

/// Deserializes all parameters of a request. The fault names the path of the value that does not
/// fit.
pub(super) fn params<T: DeserializeOwned>(request: &Request<'_>) -> Result<T, Fault> {
    let params = request.params.to_object();
    deserialize::from_str(params.as_str())
        .map_err(|error| Fault::bad_params(format!("`params`: {error}")))
}

/// Encodes the response to a server request. Returns false and writes nothing in 2026-07-28, which has no server
/// requests.
// spec: BASE-17, STDIO-07, HTTP-C-06, TRN-05
#[inline]
#[must_use = "false means that nothing was written"]
pub(crate) fn write_response(
    response: &ClientResponse,
    id: &RequestId,
    to: ProtocolVersion,
    out: &mut Vec<u8>,
) -> bool {
    if to.is_modern() {
        return false;
    }
    if let ClientResponse::Fault(fault) = response {
        write_error(out, Some(id), &fault.to_error(to));
        return true;
    }
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    write_scalar(out, id);
    out.extend_from_slice(br#","result":"#);
    match response {
        ClientResponse::Input(input) => write_json(out, &narrow::narrowed(input, to)),
        _ => out.extend_from_slice(b"{}"),
    }
    out.push(b'}');
    true
}

/// Decodes the client's response to `request`.
///
/// # Errors
///
/// Returns [`DecodeError`] when the result does not fit the method.
pub(crate) fn read_response(
    request: &ServerRequest,
    response: &Response<'_>,
    from: ProtocolVersion,
) -> Result<ClientResponse, DecodeError> {
    let result = match &response.outcome {
        Ok(result) => *result,
        Err(error) => {
            let fault = client_error_to_fault(error.clone(), request.method());
            return Ok(ClientResponse::Fault(fault));
        }
    };
    let ServerRequest::Input(input) = request else {
        return Ok(ClientResponse::Pong);
    };
    let malformed = |error: &dyn fmt::Display| DecodeError::malformed(request.method(), error);
    let result = RawObject::from_raw(result).map_err(|error| malformed(&error))?;
    let mut response = input
        .read(&result)
        .map_err(|error| malformed(&DeserializeError::new(result.as_str(), error)))?;
    if let (InputRequest::Elicit(params), InputResponse::Elicit(answer)) = (input, &mut response) {
        narrow::widen_answer(params, answer, from);
    }
    Ok(ClientResponse::Input(response))
}

/// Converts the error response of a client into a fault.
// spec: ERR-10
fn client_error_to_fault(error: ErrorObject, method: Option<Method>) -> Fault {
    match error.code {
        codes::USER_REJECTED if method == Some(Method::CreateMessage) => {
            Fault::UserRejected(error.message.into())
        }
        _ => Fault::Protocol(error),
    }
}

//! Requests of servers and their answers: there are none in the modern era.

use mcp_types::json::{self, Read};
use mcp_types::meta::keys;
use mcp_types::{
    ElicitParams, InputRequest, InputResponse, JsonObject, Meta, Method, MethodKind, Params,
    ProgressToken, ProtocolVersion, RawObject, Request, RequestId, Response, Sender,
};

use serde_json::Value;

use super::narrow;
use super::{
    DecodeError, DecodedServerRequest, RequestHead, ServerRequestContext, splice_json, write_json,
    write_request,
};
use crate::{ClientResponse, Fault, ServerRequest, place};

/// A server of this revision may ask that.
fn exists(method: Option<Method>, version: ProtocolVersion) -> bool {
    match method {
        Some(method) => {
            let spec = method.spec();
            spec.kind == MethodKind::Request
                && spec.exists_in(version)
                && spec.sender != Sender::Client
        }
        // What an extension adds.
        None => !version.is_modern(),
    }
}

/// Server: writes a request.
///
/// # Errors
///
/// [`Fault::NoSuchMethod`] or [`Fault::MissingCapability`] when a client of this revision cannot
/// be asked that.
pub(super) fn write(
    ask: &ServerRequest,
    from: &ServerRequestContext<'_>,
    to: ProtocolVersion,
) -> Result<Vec<u8>, Fault> {
    let request = match ask {
        ServerRequest::Ping => None,
        ServerRequest::Input(request) => Some(narrow::ask(request, to)?),
    };
    if !exists(ask.method(), to) {
        return Err(Fault::no_such_method(ask.method_name()));
    }
    let head = RequestHead::of_server(ask.method_name(), from);
    Ok(match request {
        Some(mut request) => {
            if let InputRequest::Elicit(params) = &mut request
                && let ElicitParams::Url(url) = &mut **params
                && to.has_elicitation_id()
            {
                // The id is required there; the request's own is as good as any.
                let id = &mut url.elicitation_id;
                id.get_or_insert_with(|| from.id.to_string());
            }
            let meta = take_meta(&mut request);
            let params = request.params_to_raw();
            debug_assert!(params.is_ok(), "{params:?}");
            let params = params.unwrap_or_else(|_| RawObject::empty());
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

/// Client: reads a request.
// spec: BASE-17, BASE-20
#[inline]
pub(super) fn read(
    request: &Request<'_>,
    from: ProtocolVersion,
) -> Result<DecodedServerRequest, Fault> {
    let method = Method::from_name(&request.method);
    if !exists(method, from) {
        return Err(Fault::no_such_method(&*request.method));
    }
    let params = &request.params;
    let ask = match method {
        Some(Method::Ping) => ServerRequest::Ping,
        Some(Method::Elicit) => ServerRequest::Input(InputRequest::Elicit(whole(request)?)),
        Some(Method::CreateMessage) => {
            ServerRequest::Input(InputRequest::CreateMessage(whole(request)?))
        }
        Some(Method::ListRoots) => ServerRequest::Input(InputRequest::ListRoots),
        _ => ServerRequest::Input(InputRequest::Other {
            method: (*request.method).to_owned(),
            params: (params.iter().len() > 0)
                .then(|| whole(request))
                .transpose()?,
        }),
    };
    let meta = params.object("_meta")?;
    Ok(DecodedServerRequest {
        request: ask,
        progress_token: progress_token(params),
        meta,
    })
}

/// The token under which the sender of a request wants progress. What is no token is none.
// spec: META-06, PROG-01
pub(super) fn progress_token(params: &Params<'_>) -> Option<ProgressToken> {
    json::from_str(params.meta(keys::PROGRESS_TOKEN)?.as_str()).ok()
}

/// All parameters as `T`; the error names the path.
pub(super) fn whole<T: Read>(request: &Request<'_>) -> Result<T, Fault> {
    let params = request.params.to_object();
    let read = place::read_by(params.as_str(), json::from_str);
    read.map_err(|misfit| Fault::bad_params(format!("`params`: {misfit}")))
}

/// Client: writes the answer to a request.
#[inline]
pub(super) fn write_answer(
    answer: &InputResponse,
    id: &RequestId,
    to: ProtocolVersion,
    out: &mut Vec<u8>,
) {
    open_result(id, out);
    write_json(out, &narrow::narrowed(answer, to));
    out.push(b'}');
}

/// Client: writes that it is there.
#[inline]
pub(super) fn write_pong(id: &RequestId, out: &mut Vec<u8>) {
    open_result(id, out);
    out.extend_from_slice(b"{}}");
}

fn open_result(id: &RequestId, out: &mut Vec<u8>) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    write_json(out, id);
    out.extend_from_slice(br#","result":"#);
}

/// Server: reads the answer to `asked`; nothing is guessed.
pub(super) fn read_answer(
    asked: &ServerRequest,
    response: &Response<'_>,
    from: ProtocolVersion,
    to_fault: impl FnOnce(mcp_types::ErrorObject) -> Fault,
) -> Result<ClientResponse, DecodeError> {
    let raw = match &response.outcome {
        Ok(raw) => *raw,
        Err(error) => return Ok(ClientResponse::Fault(to_fault(error.clone()))),
    };
    let method = asked.method();
    let ServerRequest::Input(request) = asked else {
        return Ok(ClientResponse::Pong);
    };
    let read = place::read_by(raw.as_str(), |text| request.read_text(text));
    let mut response = read.map_err(|misfit| DecodeError::malformed(method, misfit))?;
    if let (InputRequest::Elicit(params), InputResponse::Elicit(answer)) = (request, &mut response)
    {
        narrow::widen_answer(params, answer, from);
    }
    Ok(ClientResponse::Input(response))
}

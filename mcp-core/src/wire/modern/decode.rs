//! Decoding of modern requests and responses.

use std::sync::Arc;
use std::time::Duration;

use mcp_types::ext::tasks::RESULT_TYPE;
use mcp_types::{
    CacheHint, CacheScope, InputRequired, JsonObject, Method, RawJson, RawObject, Request, Response,
};
use serde::Deserialize;

use super::{constants, errors};
use crate::message::{ClientRequest, Fault, Reply, ResultBody};
use crate::wire::mend::{self, Repairs};
use crate::wire::{DecodeError, DecodedRequest, params, raw, results};

/// Decodes a client request. Methods that only sessions have are unknown here.
// spec: BASE-20, COMPAT-03
pub(in crate::wire) fn request(request: &Request<'_>) -> Result<DecodedRequest, Fault> {
    let method = Method::from_name(&request.method);
    let decoded = match method {
        Some(Method::Discover) => ClientRequest::Discover,
        Some(Method::Listen) => {
            ClientRequest::Listen(Arc::new(request.params.required("notifications")?))
        }
        _ => ClientRequest::Call(params::read(request, method, constants::VERSION)?),
    };
    let mut decoded = DecodedRequest::new(decoded);
    match method {
        Some(method) if method.spec().may_require_input => {
            decoded.input.responses = request.params.object("inputResponses")?;
            // spec: VER-13
            decoded.input.state = request.params.optional("requestState")?;
        }
        Some(_) => {}
        // The parameters of an extension's method may have other meanings.
        None => {
            decoded.input.responses = request.params.object("inputResponses").unwrap_or_default();
            decoded.input.state = request.params.optional("requestState").unwrap_or_default();
        }
    }
    Ok(decoded)
}

/// The fields that the wire adds to every result.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stamp {
    result_type: Option<String>,
    ttl_ms: Option<i64>,
    cache_scope: Option<CacheScope>,
}

/// Decodes the response to `request` by its method. The content of a raw result is not decoded.
#[inline]
pub(in crate::wire) fn reply(
    request: &ClientRequest,
    response: &Response<'_>,
    is_raw: bool,
) -> Result<Reply, DecodeError> {
    let json = match &response.outcome {
        Ok(json) => *json,
        Err(error) => {
            return Ok(Reply::Fault(errors::to_fault(
                error.clone(),
                request.method(),
            )));
        }
    };
    let method = request.method();
    let stamp = stamp(method, json)?;
    // spec: BASE-22, BASE-23, BASE-24
    match stamp.result_type.as_deref().unwrap_or(constants::COMPLETE) {
        constants::COMPLETE => {
            let cache = method
                .is_some_and(|method| method.spec().cacheable)
                .then(|| hint(&stamp));
            let body = if is_raw {
                raw::read(method, json, constants::VERSION, cache)?
            } else {
                results::read(method, json)?
            };
            let body = match body {
                ResultBody::Other(body) => ResultBody::Other(without_result_type(body)),
                body => body,
            };
            Ok(Reply::Complete { body, cache })
        }
        constants::INPUT_REQUIRED => {
            results::read_as::<InputRequired>(method, json).map(Reply::InputRequired)
        }
        // A task for another method is invalid.
        // spec: TASK-05
        RESULT_TYPE if method == Some(Method::CallTool) => Ok(Reply::Extended {
            result_type: RESULT_TYPE.into(),
            body: RawObject::from_text(json.as_str())
                .map_err(|error| DecodeError::malformed(method, error))?,
        }),
        other => Err(DecodeError::UnknownKind {
            method: request.method_name().into(),
            result_type: other.into(),
            raw: json.as_str().into(),
        }),
    }
}

/// Removes `resultType` from the result of an extension's method.
#[inline]
fn without_result_type(body: RawObject) -> RawObject {
    let Ok(mut members) = body.parse::<JsonObject>() else {
        return body;
    };
    match members.shift_remove("resultType") {
        Some(_) => RawObject::from_value(&members).unwrap_or(body),
        None => body,
    }
}

/// Reads the fields that the wire adds. The common prefix is recognized without parsing the result.
#[inline]
fn stamp(method: Option<Method>, raw: RawJson<'_>) -> Result<Stamp, DecodeError> {
    let cacheable = method.is_some_and(|method| method.spec().cacheable);
    let common = [
        r#"{"resultType":"complete","#,
        r#"{"resultType":"complete"}"#,
    ];
    if !cacheable && common.iter().any(|text| raw.as_str().starts_with(text)) {
        return Ok(Stamp::default());
    }
    match serde_json::from_str(raw.as_str()) {
        Ok(stamp) => Ok(stamp),
        Err(_) => mend::read(
            &mend::without_lone_surrogates(raw.as_str()),
            Repairs::Optional(&[]),
        )
        .map(|stamp| stamp.value)
        .map_err(|error| DecodeError::malformed(method, error)),
    }
}

// spec: CACHE-05
fn hint(stamp: &Stamp) -> CacheHint {
    let ttl = u64::try_from(stamp.ttl_ms.unwrap_or(0)).unwrap_or(0);
    let ttl = Duration::from_millis(ttl);
    match stamp.cache_scope.unwrap_or_default() {
        CacheScope::Public => CacheHint::public(ttl),
        _ => CacheHint::private(ttl),
    }
}

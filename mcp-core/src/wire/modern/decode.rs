//! Reading modern messages.

use std::sync::Arc;
use std::time::Duration;

use mcp_types::json::{self, members};
use mcp_types::{
    CacheHint, CacheScope, InputRequired, JsonObject, Method, RawJson, RawObject, Request, Response,
};

use super::{errors, result_type};
use crate::wire::{DecodeError, DecodedRequest, calls, results};
use crate::{ClientRequest, Fault, Reply, ResultBody};

/// Reads what a request asks. Methods of other eras are unknown here.
// spec: BASE-20, COMPAT-03
pub(super) fn call(request: &Request<'_>) -> Result<DecodedRequest, Fault> {
    let method = Method::from_name(&request.method);
    let asked = match method {
        Some(Method::Discover) => ClientRequest::Discover,
        Some(Method::Listen) => {
            ClientRequest::Listen(Arc::new(request.params.required_value("notifications")?))
        }
        _ => ClientRequest::Call(calls::read(request, super::VERSION)?),
    };
    // The envelope has progress token and `_meta` already.
    let mut decoded = DecodedRequest::new(asked);
    if method.is_some_and(|method| method.spec().may_require_input) {
        decoded.input.responses = request.params.object("inputResponses")?;
        decoded.input.state = request.params.optional("requestState")?;
    }
    Ok(decoded)
}

/// What every result says about itself.
#[derive(Default)]
struct Stamp {
    result_type: Option<String>,
    ttl_ms: Option<i64>,
    cache_scope: Option<CacheScope>,
}

members!(Stamp as "a result" {
    "resultType" => result_type or nothing,
    "ttlMs" => ttl_ms or nothing,
    "cacheScope" => cache_scope or nothing,
});

/// Reads an answer by the method that was asked; nothing is guessed.
#[inline]
pub(super) fn reply(asked: &ClientRequest, response: &Response<'_>) -> Result<Reply, DecodeError> {
    let raw = match &response.outcome {
        Ok(raw) => *raw,
        Err(error) => {
            return Ok(Reply::Fault(errors::to_fault(
                error.clone(),
                asked.method(),
            )));
        }
    };
    let method = asked.method();
    let stamp = stamp(method, raw)?;
    // spec: BASE-22, BASE-23, BASE-24
    match stamp
        .result_type
        .as_deref()
        .unwrap_or(result_type::COMPLETE)
    {
        result_type::COMPLETE => {
            let body = match results::read(method, raw)? {
                ResultBody::Other(body) => ResultBody::Other(without_kind(body)),
                body => body,
            };
            let cache = method
                .is_some_and(|method| method.spec().cacheable)
                .then(|| hint(&stamp));
            Ok(Reply::Complete { body, cache })
        }
        result_type::INPUT_REQUIRED => {
            results::read_as::<InputRequired>(method, raw).map(Reply::InputRequired)
        }
        other => Err(DecodeError::UnknownKind {
            method: asked.method_name().into(),
            result_type: other.into(),
            raw: raw.as_str().into(),
        }),
    }
}

/// The raw result of an extension's method without what the wire says about it.
#[inline]
fn without_kind(body: RawObject) -> RawObject {
    let Ok(mut members) = body.parse::<JsonObject>() else {
        return body;
    };
    match members.shift_remove("resultType") {
        Some(_) => RawObject::of(&members).unwrap_or(body),
        None => body,
    }
}

/// Looks for the stamp; the usual one is recognized by its text, without a walk over the result.
#[inline]
fn stamp(method: Option<Method>, raw: RawJson<'_>) -> Result<Stamp, DecodeError> {
    let cacheable = method.is_some_and(|method| method.spec().cacheable);
    let usual = [
        r#"{"resultType":"complete","#,
        r#"{"resultType":"complete"}"#,
    ];
    if !cacheable && usual.iter().any(|text| raw.as_str().starts_with(text)) {
        return Ok(Stamp::default());
    }
    json::from_str(raw.as_str()).map_err(|error| DecodeError::malformed(method, error))
}

// spec: CACHE-05
#[inline]
fn hint(stamp: &Stamp) -> CacheHint {
    let ttl = u64::try_from(stamp.ttl_ms.unwrap_or(0)).unwrap_or(0);
    let ttl = Duration::from_millis(ttl);
    match stamp.cache_scope.unwrap_or_default() {
        CacheScope::Public => CacheHint::public(ttl),
        _ => CacheHint::private(ttl),
    }
}

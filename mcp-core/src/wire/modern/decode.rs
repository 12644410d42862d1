//! Reading modern messages.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use mcp_types::{
    CacheHint, CacheScope, CallToolParams, CompleteParams, Cursor, GetPromptParams, InputRequired,
    Method, Notification, Page, Progress, ProtocolVersion, RawObject, ReadResourceParams, Request,
    Response,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::{errors, result_type};
use crate::wire::{DecodeError, Decoded};
use crate::{Asked, Call, Fault, InputState, Listing, Reply, ResultBody, ServerNote};

/// Reads what a request asks. Methods of other eras are unknown here.
// spec: BASE-20, COMPAT-03
pub(super) fn call(request: &Request<'_>) -> Result<Decoded, Fault> {
    let params = &request.params;
    let page = || -> Result<Page, Fault> {
        let cursor = params.optional::<Cursor>("cursor")?;
        Ok(cursor.map_or_else(Page::first, Page::at))
    };
    let known = Method::from_name(&request.method)
        .filter(|method| method.spec().exists_in(ProtocolVersion::LATEST));
    let call = match known {
        Some(Method::Discover) => return Ok(plain(Asked::Discover)),
        Some(Method::ListTools) => Call::ListTools(page()?),
        Some(Method::ListResources) => Call::ListResources(page()?),
        Some(Method::ListResourceTemplates) => Call::ListResourceTemplates(page()?),
        Some(Method::ListPrompts) => Call::ListPrompts(page()?),
        Some(Method::CallTool) => {
            let name: String = params.required("name")?;
            Call::CallTool(CallToolParams::new(name, params.object("arguments")?))
        }
        Some(Method::ReadResource) => {
            Call::ReadResource(ReadResourceParams::new(params.required::<String>("uri")?))
        }
        Some(Method::GetPrompt) => {
            let name: String = params.required("name")?;
            Call::GetPrompt(GetPromptParams::new(name, params.object("arguments")?))
        }
        Some(Method::Complete) => Call::Complete(complete(request)?),
        // Not served yet, or not a request at all.
        Some(_) => return Err(Fault::no_such_method(&*request.method)),
        None if Method::from_name(&request.method).is_some() => {
            return Err(Fault::no_such_method(&*request.method));
        }
        None => Call::Other {
            method: (&*request.method).into(),
            params: Some(params.to_object()),
        },
    };
    let mut decoded = plain(Asked::Call(call));
    if known.is_some_and(|method| method.spec().may_require_input) {
        decoded.input = InputState {
            responses: params.object("inputResponses")?,
            state: params.optional("requestState")?,
        };
    }
    Ok(decoded)
}

fn plain(asked: Asked) -> Decoded {
    Decoded {
        asked,
        input: InputState::default(),
    }
}

fn complete(request: &Request<'_>) -> Result<CompleteParams, Fault> {
    request
        .params
        .to_object()
        .parse()
        .map_err(|error| Fault::bad_params(format!("`params`: {error}")))
}

/// What every result says about itself.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Stamp<'a> {
    #[serde(borrow)]
    result_type: Option<Cow<'a, str>>,
    ttl_ms: Option<i64>,
    cache_scope: Option<CacheScope>,
}

/// Reads an answer by the method that was asked; nothing is guessed.
pub(super) fn reply(asked: &Asked, response: &Response<'_>) -> Result<Reply, DecodeError> {
    let raw = match &response.outcome {
        Ok(raw) => *raw,
        Err(error) => return Ok(Reply::Fault(errors::to_fault(error.clone()))),
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
            let body = body(method, raw)?;
            let cache = method
                .is_some_and(|method| method.spec().cacheable)
                .then(|| hint(&stamp));
            Ok(Reply::Complete { body, cache })
        }
        result_type::INPUT_REQUIRED => read::<InputRequired>(method, raw).map(Reply::InputRequired),
        other => Err(DecodeError::UnknownKind {
            method: asked.method_name().into(),
            result_type: other.into(),
            raw: raw.get().into(),
        }),
    }
}

/// Looks for the stamp; the usual one is recognized by its text, without a walk over the result.
fn stamp(method: Option<Method>, raw: &RawValue) -> Result<Stamp<'_>, DecodeError> {
    let cacheable = method.is_some_and(|method| method.spec().cacheable);
    let usual = [
        r#"{"resultType":"complete","#,
        r#"{"resultType":"complete"}"#,
    ];
    if !cacheable && usual.iter().any(|text| raw.get().starts_with(text)) {
        return Ok(Stamp::default());
    }
    serde_json::from_str(raw.get()).map_err(|error| DecodeError::malformed(method, error))
}

// spec: CACHE-05
fn hint(stamp: &Stamp<'_>) -> CacheHint {
    let ttl = u64::try_from(stamp.ttl_ms.unwrap_or(0)).unwrap_or(0);
    let ttl = Duration::from_millis(ttl);
    match stamp.cache_scope.unwrap_or_default() {
        CacheScope::Public => CacheHint::public(ttl),
        _ => CacheHint::private(ttl),
    }
}

fn body(method: Option<Method>, raw: &RawValue) -> Result<ResultBody, DecodeError> {
    fn list<T: DeserializeOwned>(
        method: Option<Method>,
        raw: &RawValue,
    ) -> Result<Arc<Listing<T>>, DecodeError> {
        read(method, raw).map(|page| Arc::new(Listing::new(page)))
    }

    Ok(match method {
        Some(Method::Discover) => ResultBody::Discover(Box::new(read(method, raw)?)),
        Some(Method::CallTool) => ResultBody::CallTool(read(method, raw)?),
        Some(Method::ListTools) => ResultBody::ListTools(list(method, raw)?),
        Some(Method::ListResources) => ResultBody::ListResources(list(method, raw)?),
        Some(Method::ListResourceTemplates) => {
            ResultBody::ListResourceTemplates(list(method, raw)?)
        }
        Some(Method::ReadResource) => ResultBody::ReadResource(read(method, raw)?),
        Some(Method::ListPrompts) => ResultBody::ListPrompts(list(method, raw)?),
        Some(Method::GetPrompt) => ResultBody::GetPrompt(read(method, raw)?),
        Some(Method::Complete) => ResultBody::Complete(read(method, raw)?),
        Some(_) | None => ResultBody::Other(
            RawObject::from_raw(raw).map_err(|error| DecodeError::malformed(method, error))?,
        ),
    })
}

fn read<T: DeserializeOwned>(method: Option<Method>, raw: &RawValue) -> Result<T, DecodeError> {
    serde_json::from_str(raw.get()).map_err(|error| DecodeError::malformed(method, error))
}

/// Reads a notification of a running call. Malformed ones are ignored, like unknown ones.
// spec: BASE-19
pub(super) fn note(note: &Notification<'_>) -> Option<ServerNote> {
    let params = &note.params;
    match Method::from_name(&note.method)? {
        Method::Progress => {
            let mut progress = Progress::new(params.required("progress").ok()?);
            progress.total = params.optional("total").ok()?;
            progress.message = params.optional("message").ok()?;
            let token = params.required("progressToken").ok()?;
            Some(ServerNote::Progress { token, progress })
        }
        Method::LogMessage => params.to_object().parse().ok().map(ServerNote::Log),
        _ => None,
    }
}

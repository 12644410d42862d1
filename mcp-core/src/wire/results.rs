//! Results of calls, decoded by the method of the request.

use std::sync::Arc;

use mcp_types::{Method, RawJson, RawObject};
use serde::de::DeserializeOwned;

use super::DecodeError;
use crate::{Listing, ResultBody, deserialize};

/// Decodes the result of `method`.
pub(super) fn read(method: Option<Method>, raw: RawJson<'_>) -> Result<ResultBody, DecodeError> {
    Ok(match method {
        Some(Method::Discover) => ResultBody::Discover(Arc::new(read_as(method, raw)?)),
        Some(Method::CallTool) => ResultBody::CallTool(read_as(method, raw)?),
        Some(Method::ListTools) => ResultBody::ListTools(list(method, raw)?),
        Some(Method::ListResources) => ResultBody::ListResources(list(method, raw)?),
        Some(Method::ListResourceTemplates) => {
            ResultBody::ListResourceTemplates(list(method, raw)?)
        }
        Some(Method::ReadResource) => ResultBody::ReadResource(read_as(method, raw)?),
        Some(Method::ListPrompts) => ResultBody::ListPrompts(list(method, raw)?),
        Some(Method::GetPrompt) => ResultBody::GetPrompt(read_as(method, raw)?),
        Some(Method::Complete) => ResultBody::Complete(read_as(method, raw)?),
        Some(Method::Listen) => ResultBody::Listen(read_as(method, raw)?),
        Some(Method::Initialize) => ResultBody::Initialize(Arc::new(read_as(method, raw)?)),
        Some(Method::Ping | Method::SetLevel | Method::Subscribe | Method::Unsubscribe) => {
            ResultBody::Empty
        }
        Some(_) | None => ResultBody::Other(
            RawObject::from_raw(raw).map_err(|error| DecodeError::malformed(method, error))?,
        ),
    })
}

fn list<T: DeserializeOwned>(
    method: Option<Method>,
    raw: RawJson<'_>,
) -> Result<Arc<Listing<T>>, DecodeError> {
    read_as(method, raw).map(|page| Arc::new(Listing::new(page)))
}

/// Decodes a result as `T`. The error names the method and the path of the value that does not fit.
pub(super) fn read_as<T: DeserializeOwned>(
    method: Option<Method>,
    raw: RawJson<'_>,
) -> Result<T, DecodeError> {
    deserialize::from_str(raw.as_str()).map_err(|error| DecodeError::malformed(method, error))
}

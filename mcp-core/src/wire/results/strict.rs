//! Results without a malformed part.

use std::sync::Arc;

use mcp_types::{JsonObject, ListToolsResult, Method, RawJson, RawObject};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::deserialize;
use crate::message::{Listing, ResultBody};
use crate::wire::DecodeError;

/// Decodes the result of `method`. A malformed part is an error.
#[inline]
pub(super) fn read(method: Option<Method>, raw: RawJson<'_>) -> Result<ResultBody, DecodeError> {
    Ok(match method {
        Some(Method::Discover) => ResultBody::Discover(Arc::new(read_as(method, raw)?)),
        Some(Method::CallTool) => ResultBody::CallTool(read_as(method, raw)?),
        Some(Method::ListTools) => {
            let mut page: ListToolsResult = read_as(method, raw)?;
            mend_schemas(&mut page);
            ResultBody::ListTools(Arc::new(Listing::new(page)))
        }
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

/// Replaces `"properties": []` in input and output schemas by an empty object: PHP writes an empty array for both.
pub(super) fn mend_schemas(page: &mut ListToolsResult) {
    let is_empty_list = |(name, value): (&String, &Value)| {
        name == "properties" && value.as_array().is_some_and(Vec::is_empty)
    };
    let mend = |schema: &mut Arc<JsonObject>| {
        if schema.iter().any(is_empty_list) {
            let schema = Arc::make_mut(schema);
            schema.insert("properties".to_owned(), JsonObject::new().into());
        }
    };
    for tool in &mut page.tools {
        mend(&mut tool.input_schema);
        tool.output_schema.iter_mut().for_each(mend);
    }
}

/// Decodes a result as `T`. The error names the method and the path of the value that does not fit.
pub(in crate::wire) fn read_as<T: DeserializeOwned>(
    method: Option<Method>,
    raw: RawJson<'_>,
) -> Result<T, DecodeError> {
    deserialize::from_str(raw.as_str()).map_err(|error| DecodeError::malformed(method, error))
}

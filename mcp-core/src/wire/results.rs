//! Call results, decoded by the request's method.

use std::sync::Arc;

use mcp_types::{Cursor, ListToolsResult, Meta, Method, RawJson, RawObject};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::DecodeError;
use crate::{Listing, ResultBody, deserialize};

/// Decodes the result of `method`.
#[inline]
pub(super) fn read(method: Option<Method>, raw: RawJson<'_>) -> Result<ResultBody, DecodeError> {
    Ok(match method {
        Some(Method::Discover) => ResultBody::Discover(Arc::new(read_as(method, raw)?)),
        Some(Method::CallTool) => ResultBody::CallTool(read_as(method, raw)?),
        Some(Method::ListTools) => ResultBody::ListTools(tools(method, raw)?),
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

/// A list of tools that are not decoded.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawTools<'a> {
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
    next_cursor: Option<Cursor>,
    #[serde(rename = "_meta")]
    meta: Option<Meta>,
}

/// Decodes a list of tools. A tool that is nested too deeply for the JSON parser is left out, so that it does not hide
/// the others.
#[inline]
fn tools(
    method: Option<Method>,
    raw: RawJson<'_>,
) -> Result<Arc<Listing<ListToolsResult>>, DecodeError> {
    let malformed = |error: &dyn std::fmt::Display| DecodeError::malformed(method, error);
    let error = match deserialize::from_str(raw.as_str()) {
        Ok(page) => return Ok(Arc::new(Listing::new(page))),
        Err(error) => error,
    };
    // The message was parsed, so the nesting is the only syntax error of its parts.
    if !error.error.is_syntax() {
        return Err(malformed(&error));
    }
    let RawTools {
        tools,
        next_cursor,
        meta,
    } = raw.read().map_err(|error| malformed(&error))?;
    let (mut page, mut unreadable) = (ListToolsResult::from(Vec::new()), Vec::new());
    (page.next_cursor, page.meta) = (next_cursor, meta);
    for tool in tools {
        // As deep as in the page: what is read here can be read again in a list.
        let alone = format!(r#"{{"tools":[{}]}}"#, tool.get());
        match serde_json::from_str::<ListToolsResult>(&alone) {
            Ok(read) => page.tools.extend(read.tools),
            Err(error) if error.is_syntax() => {
                let tool = RawObject::from_text(tool.get()).map_err(|error| malformed(&error))?;
                let name = tool.as_raw().members().find(|(member, _)| member == "name");
                let name = name.and_then(|(_, name)| name.text().map(String::from));
                let reason = "it is nested too deeply".to_owned();
                unreadable.push((name.unwrap_or_default(), reason));
            }
            Err(error) => return Err(malformed(&error)),
        }
    }
    Ok(Arc::new(Listing::new(page).with_unreadable(unreadable)))
}

/// Decodes a result as `T`. The error names the method and the path of the value that does not fit.
pub(super) fn read_as<T: DeserializeOwned>(
    method: Option<Method>,
    raw: RawJson<'_>,
) -> Result<T, DecodeError> {
    deserialize::from_str(raw.as_str()).map_err(|error| DecodeError::malformed(method, error))
}

//! The result of a call.

use bytes::{Buf as _, Bytes};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Response};
use http_body::Body;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use mcp_server::ToolError;
use mcp_types::{CallToolResult, truncate};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::operation::is_json;

/// Longest part of an error that the language model receives, in bytes.
const MAX_ERROR: usize = 2048;

/// Reads a response. With `has_output`, the result has structured content, because clients refuse results without
/// it for tools with an output schema.
///
/// # Errors
///
/// Returns a [`ToolError`] for another status than 2xx, and for a body that is too long or not text.
pub(super) async fn read<B>(
    response: Response<B>,
    limit: usize,
    has_output: bool,
) -> Result<CallToolResult, ToolError>
where
    B: Body<Error: Into<Box<dyn std::error::Error + Send + Sync>>>,
{
    let (parts, body) = response.into_parts();
    let body = Limited::new(body, limit).collect().await;
    let body = body.map_err(|error| {
        if error.is::<LengthLimitError>() {
            return ToolError::new(format!(
                "the response of the service is longer than {limit} bytes; ask for less"
            ));
        }
        tracing::warn!(error = %mcp_types::escaped(&error), "a response of a service broke off");
        ToolError::new("the response of the service broke off")
    })?;
    let mut body = body.aggregate();
    let body = body.copy_to_bytes(body.remaining());
    if !parts.status.is_success() {
        let text = String::from_utf8_lossy(&body);
        return Err(ToolError::new(format!(
            "the service answered with the status {}: {}",
            parts.status.as_u16(),
            truncate(&text, MAX_ERROR)
        )));
    }
    result(&parts.headers, body, has_output)
}

fn result(headers: &HeaderMap, body: Bytes, has_output: bool) -> Result<CallToolResult, ToolError> {
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    if kind.is_some_and(is_json) && !body.is_empty() {
        let value: Value = serde_json::from_slice(&body)
            .map_err(|_| ToolError::new("the response of the service is not JSON"))?;
        // Structured content is an object.
        let value = match value {
            Value::Object(_) => value,
            value => json!({ "result": value }),
        };
        return Ok(CallToolResult::from_json(&value)?);
    }
    let text = String::from_utf8(body.into()).map_err(|_| {
        ToolError::new(format!(
            "the response of the service has the type {:?}, which is not text",
            kind.unwrap_or_default()
        ))
    })?;
    let structured = match &*text {
        _ if !has_output => None,
        "" => Some(json!({ "result": null })),
        text => Some(json!({ "result": text })),
    };
    let mut result = CallToolResult::from_text(if text.is_empty() { "done" } else { &*text });
    result.structured_content = structured.map(|value| to_raw_value(&value)).transpose()?;
    Ok(result)
}

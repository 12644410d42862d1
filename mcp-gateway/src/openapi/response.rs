//! The result of a call.

use bytes::{Buf as _, Bytes};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Response};
use http_body::Body;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use mcp_server::ToolError;
use mcp_types::CallToolResult;
use serde_json::{Value, json};

use super::operation::is_json;

/// Longest part of an error that the language model receives, in bytes.
const MAX_ERROR: usize = 2048;

/// Reads a response.
///
/// # Errors
///
/// Returns a [`ToolError`] for another status than 2xx, a body that is too long, or one that is no text.
pub(super) async fn read<B>(
    response: Response<B>,
    limit: usize,
) -> Result<CallToolResult, ToolError>
where
    B: Body<Error: Into<Box<dyn std::error::Error + Send + Sync>>>,
{
    let (parts, body) = response.into_parts();
    let body = Limited::new(body, limit).collect().await;
    let body = body.map_err(|error| match error.is::<LengthLimitError>() {
        true => ToolError::new(format!(
            "the response of the service is longer than {limit} bytes; ask for less"
        )),
        false => {
            tracing::warn!(%error, "a response of a service broke off");
            ToolError::new("the response of the service broke off")
        }
    })?;
    let mut body = body.aggregate();
    let body = body.copy_to_bytes(body.remaining());
    if !parts.status.is_success() {
        let text = String::from_utf8_lossy(&body);
        let mut end = text.len().min(MAX_ERROR);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let text = text.get(..end).unwrap_or_default();
        return Err(ToolError::new(format!(
            "the service answered with the status {}: {text}",
            parts.status.as_u16()
        )));
    }
    result(&parts.headers, body)
}

fn result(headers: &HeaderMap, body: Bytes) -> Result<CallToolResult, ToolError> {
    let kind = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
    if kind.is_some_and(is_json) && !body.is_empty() {
        let value: Value = serde_json::from_slice(&body)
            .map_err(|_| ToolError::new("the response of the service is no JSON"))?;
        // Structured content is an object.
        let value = match value {
            Value::Object(_) => value,
            value => json!({ "result": value }),
        };
        return Ok(CallToolResult::from_json(&value)?);
    }
    match String::from_utf8(body.into()) {
        Ok(text) if text.is_empty() => Ok(CallToolResult::from_text("done")),
        Ok(text) => Ok(CallToolResult::from_text(text)),
        Err(_) => Err(ToolError::new(format!(
            "the response of the service has the type {:?}, which is no text",
            kind.unwrap_or_default()
        ))),
    }
}

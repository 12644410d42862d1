//! JSON-RPC messages as text.

use mcp_core::extension::{from_params, to_object};
use mcp_types::{ErrorObject, RawObject, RequestId, codes};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::types::ViewError;

/// A view message.
#[derive(Debug, Deserialize)]
pub(super) struct Incoming {
    #[serde(default)]
    jsonrpc: String,
    id: Option<RequestId>,
    method: Option<String>,
    params: Option<RawObject>,
    result: Option<RawObject>,
    error: Option<ErrorObject>,
}

/// A view message by its kind.
#[derive(Debug)]
pub(super) enum Kind {
    Request(RequestId, String, RawObject),
    Notification(String, RawObject),
    Response(RequestId, Result<RawObject, ErrorObject>),
}

impl Incoming {
    /// Parses a message. Returns `None` if the text is not a JSON-RPC message.
    pub(super) fn parse(text: &str) -> Option<Kind> {
        let message: Self = serde_json::from_str(text).ok()?;
        if message.jsonrpc != "2.0" {
            return None;
        }
        let params = message.params.unwrap_or_default();
        match (message.id, message.method, message.result, message.error) {
            (Some(id), Some(method), None, None) => Some(Kind::Request(id, method, params)),
            (None, Some(method), None, None) => Some(Kind::Notification(method, params)),
            (Some(id), None, Some(result), None) => Some(Kind::Response(id, Ok(result))),
            (Some(id), None, None, Some(error)) => Some(Kind::Response(id, Err(error))),
            _ => None,
        }
    }
}

#[derive(Serialize)]
struct Outgoing<'a> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a RequestId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a RawObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a ErrorObject>,
}

const EMPTY: Outgoing<'static> = Outgoing {
    jsonrpc: "2.0",
    id: None,
    method: None,
    params: None,
    result: None,
    error: None,
};

/// Writes a request, or a notification if there is no id.
pub(super) fn call(
    id: Option<&RequestId>,
    method: &'static str,
    params: &impl Serialize,
) -> Result<String, ViewError> {
    let malformed = |error| ViewError::malformed(method, error);
    let params = serde_json::value::to_raw_value(params).map_err(malformed)?;
    let message = Outgoing {
        id,
        method: Some(method),
        params: Some(&params),
        ..EMPTY
    };
    serde_json::to_string(&message).map_err(malformed)
}

/// Reads the parameters of a view's request.
///
/// # Errors
///
/// Returns the error for the view.
pub(super) fn read_params<T: DeserializeOwned>(params: &RawObject) -> Result<T, ErrorObject> {
    let read = from_params(Some(params.as_str()));
    read.map_err(|error| ErrorObject::new(codes::INVALID_PARAMS, format!("`params`: {error}")))
}

/// Writes the result of a view's request.
///
/// # Errors
///
/// Returns the error for the view.
pub(super) fn write_result(result: &impl Serialize) -> Result<RawObject, ErrorObject> {
    to_object(result).map_err(|error| ErrorObject::new(codes::INTERNAL_ERROR, error.to_string()))
}

/// Writes a response.
pub(super) fn response(id: &RequestId, outcome: &Result<RawObject, ErrorObject>) -> Option<String> {
    let (result, error) = match outcome {
        Ok(result) => (Some(result), None),
        Err(error) => (None, Some(error)),
    };
    let message = Outgoing {
        id: Some(id),
        result,
        error,
        ..EMPTY
    };
    serde_json::to_string(&message).ok()
}

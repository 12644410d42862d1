//! JSON-RPC messages as text.

use mcp_core::extension::{from_params, to_object};
use mcp_types::{ErrorObject, RawObject, RequestId, codes};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::types::ViewError;

#[derive(Default, Serialize)]
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

/// Writes a request, or a notification if there is no id.
pub(super) fn call(
    id: Option<&RequestId>,
    method: &'static str,
    params: &impl Serialize,
) -> Result<String, ViewError> {
    let malformed = |error| ViewError::malformed(method, error);
    let params = serde_json::value::to_raw_value(params).map_err(malformed)?;
    let message = Outgoing {
        jsonrpc: "2.0",
        id,
        method: Some(method),
        params: Some(&params),
        ..Outgoing::default()
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
        jsonrpc: "2.0",
        id: Some(id),
        result,
        error,
        ..Outgoing::default()
    };
    serde_json::to_string(&message).ok()
}

//! Errors with the extension's codes.

use mcp_core::Fault;
use mcp_core::store::StoreError;
use mcp_server::RequestError;
use mcp_types::{ErrorObject, codes};
use serde_json::{Value, json};

use crate::secret::NoRandomness;

fn error(code: i64, message: impl Into<String>, data: &Value) -> RequestError {
    let error = ErrorObject::new(code, message).with_data(data);
    RequestError::fault(Fault::Protocol(error))
}

pub(super) fn no_event_type(name: &str) -> RequestError {
    let name: String = name.chars().take(100).collect();
    let message = format!("there is no event type {name:?}; `events/list` has their names");
    error(codes::EVENTS_NOT_FOUND, message, &json!({"kind": "event"}))
}

pub(super) fn no_subscription() -> RequestError {
    let message = "there is no such subscription";
    error(
        codes::EVENTS_NOT_FOUND,
        message,
        &json!({"kind": "subscription"}),
    )
}

pub(super) fn forbidden(message: &str) -> RequestError {
    error(codes::EVENTS_FORBIDDEN, message, &json!({}))
}

pub(super) fn exhausted(limit: &str, max: usize) -> RequestError {
    let message = format!("the limit `{limit}` of {max} is reached; try again later");
    error(
        codes::EVENTS_RESOURCE_EXHAUSTED,
        message,
        &json!({"limit": limit, "max": max}),
    )
}

pub(super) fn unsupported(feature: &str, value: &str) -> RequestError {
    let message = format!("{feature} `{value}` is not supported for this event type");
    error(
        codes::EVENTS_UNSUPPORTED,
        message,
        &json!({"feature": feature, "value": value}),
    )
}

pub(super) fn callback(reason: &str, message: &str) -> RequestError {
    error(
        codes::EVENTS_CALLBACK_ENDPOINT_ERROR,
        message,
        &json!({ "reason": reason }),
    )
}

/// The failure of the log, whose message is not for clients.
pub(super) fn log_failed(failure: StoreError) -> RequestError {
    tracing::error!(error = %mcp_types::escaped(&failure), "the event log failed");
    RequestError::fault(Fault::internal("the event log failed; try again later"))
}

/// The failure of the webhook store, whose message is not for clients.
pub(super) fn store_failed(failure: StoreError) -> RequestError {
    tracing::error!(error = %mcp_types::escaped(&failure), "the store of webhooks failed");
    RequestError::fault(Fault::internal(
        "the store of webhooks failed; try again later",
    ))
}

/// The server cannot create a challenge. A predictable one would prove nothing.
pub(super) fn no_randomness(failure: NoRandomness) -> RequestError {
    tracing::error!(error = %mcp_types::escaped(&failure), "a webhook cannot be verified");
    RequestError::fault(Fault::internal(
        "the server has no random numbers; try again later",
    ))
}

#[cfg(test)]
mod tests {
    use super::no_randomness;
    use crate::secret::NoRandomness;

    #[test]
    fn missing_random_numbers_are_an_internal_error() {
        let error = no_randomness(NoRandomness);
        assert!(format!("{error:?}").contains("no random numbers"));
    }
}

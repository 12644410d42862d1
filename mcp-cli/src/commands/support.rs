//! Results as JSON.

use serde::Serialize;
use serde_json::Value;

use crate::failure::{Failure, FailureKind};

/// Converts a result of a server to JSON.
pub(super) fn to_json(value: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(value).map_err(|error| {
        let message = format!("the result is not valid JSON: {error}");
        Failure::new(FailureKind::Server, message)
    })
}

//! Results as JSON, and what is left out of them.

use mcp::Client;
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

/// The maximum number of omissions that are shown.
const MAX_OMISSIONS: usize = 20;

/// Describes what the client has left out of the lists, with its place.
pub(super) fn omissions(client: &Client) -> Vec<String> {
    let omissions = client.omissions();
    let shown = omissions.iter().take(MAX_OMISSIONS);
    let mut lines: Vec<_> = shown.map(ToString::to_string).collect();
    if let Some(more) = omissions.len().checked_sub(MAX_OMISSIONS)
        && more > 0
    {
        lines.push(format!("… and {more} more are left out"));
    }
    lines
}

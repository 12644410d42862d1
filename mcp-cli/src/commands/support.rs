//! Parts of several commands.

use mcp::Client;
use serde::Serialize;
use serde_json::Value;

use crate::failure::{Failure, FailureKind};

/// Closes the connection. The result of the command is known already, so errors are ignored.
pub(super) async fn close(client: &Client) {
    let _ = client.close().await;
}

/// Converts a result of a server to JSON.
pub(super) fn to_json(value: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(value).map_err(|error| {
        Failure::new(
            FailureKind::Server,
            format!("the result is not valid JSON: {error}"),
        )
    })
}

//! Changes of the tools of a running server, for the operator of the gateway.

use mcp_client::catalog::{Impact, Snapshot};
use mcp_types::Tool;
use serde_json::json;

/// Longer lists are not compared, so that a server that changes its list all the time takes no time of others.
const MAX_TOOLS: usize = 500;
/// Largest number of differences that are logged.
const MAX_DIFFERENCES: usize = 20;

/// Logs the differences of two lists. Breaking ones are warnings: clients and models that know the older list may
/// fail.
pub(super) fn log(server: &str, old: &[Tool], new: &[Tool]) {
    if old.len().max(new.len()) > MAX_TOOLS {
        return;
    }
    let (Some(old), Some(new)) = (snapshot(old), snapshot(new)) else {
        return;
    };
    let diff = old.diff(&new);
    for difference in diff.differences().iter().take(MAX_DIFFERENCES) {
        // The names and texts are those of the server: quoted, they cannot imitate a line of the log.
        let difference_text = difference.to_string();
        match difference.impact {
            Impact::Breaking => {
                tracing::warn!(
                    server,
                    difference = difference_text,
                    "a server behind the gateway has changed its tools"
                );
            }
            _ => {
                tracing::info!(
                    server,
                    difference = difference_text,
                    "a server behind the gateway has changed its tools"
                );
            }
        }
    }
}

fn snapshot(tools: &[Tool]) -> Option<Snapshot> {
    Snapshot::from_value(json!({ "tools": tools })).ok()
}

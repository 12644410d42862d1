//! Timestamps in ISO 8601.

use std::time::{SystemTime, UNIX_EPOCH};

use mcp_types::time;

/// Returns the current time in UTC, with milliseconds.
pub(crate) fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    time::format(since.map_or(0, |since| since.as_millis() as u64))
}

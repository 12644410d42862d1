//! The time.

use std::time::{SystemTime, UNIX_EPOCH};

#[cfg(feature = "server")]
pub(crate) use mcp_types::time::format;

/// Returns the current time in milliseconds since 1970.
pub(crate) fn now() -> u64 {
    millis(SystemTime::now())
}

/// Returns a time in milliseconds since 1970.
pub(crate) fn millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as u64)
}

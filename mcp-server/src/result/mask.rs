//! Errors whose messages go to the log only (`Server::mask_errors`).

use std::error::Error;

use mcp_core::with_causes;

/// Bytes of an error number.
const NUMBER_BYTES: usize = 8;

/// Writes an error with all its sources to the log. Returns the number of the log entry, for the client.
pub(super) fn log_masked(kind: &str, id: &str, error: &(dyn Error + 'static)) -> String {
    let number = error_number();
    tracing::error!(
        kind,
        id,
        error_number = number,
        error = with_causes(error),
        "handler failed"
    );
    number
}

/// Returns a random number as hexadecimal digits, which is unique among several servers.
fn error_number() -> String {
    let mut bytes = [0; NUMBER_BYTES];
    if getrandom::fill(&mut bytes).is_err() {
        return "unknown".to_owned();
    }
    format!("{:016x}", u64::from_be_bytes(bytes))
}

//! Ids that cannot be guessed.

use std::fmt::Write as _;

use mcp_core::Fault;

/// The longest id that a client may send, in bytes. Longer ones are unknown.
pub(crate) const MAX_LEN: usize = 128;

/// Returns 128 random bits as hexadecimal digits.
///
/// # Errors
///
/// Returns [`Fault::Internal`] when the operating system has no random numbers.
// spec: TASK-22
pub(crate) fn random() -> Result<String, Fault> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        tracing::error!(%error, "the operating system has no random numbers");
        Fault::internal("the task cannot be created")
    })?;
    let mut id = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a string does not fail.
        let _ = write!(id, "{byte:02x}");
    }
    Ok(id)
}

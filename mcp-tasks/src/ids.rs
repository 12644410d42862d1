//! Ids that cannot be guessed.

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
        tracing::error!(error = %mcp_types::escaped(&error), "the operating system has no random numbers");
        Fault::internal("the task cannot be created")
    })?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}

//! The result type of every command.

/// The result of a fallible step. The error is a message for the person at the terminal.
pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

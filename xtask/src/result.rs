//! The result type of every command.

/// A fallible step's result. The error is a message for the person at the terminal.
pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

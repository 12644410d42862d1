//! Errors of extractors.

use std::borrow::Cow;

use mcp_core::Fault;

/// The error of an extractor that cannot find its value in the call. The handler does not run.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Rejection {
    /// The arguments do not match the handler's types. In a tool the language model receives the
    /// error as a failed result, because it can correct the call.
    #[error(transparent)]
    Arguments(#[from] ArgumentError),
    /// Any other reason. The client receives it as a protocol error.
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl Rejection {
    /// The rejection for a value that the client, the transport or a layer should have supplied.
    pub fn missing(message: impl Into<Cow<'static, str>>) -> Self {
        Self::Fault(Fault::bad_params(message))
    }
}

/// An argument that does not match its type or its schema.
// spec: TOOL-20
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid arguments: {}{reason}", if path.is_empty() { String::new() } else { format!("`{path}`: ") })]
pub struct ArgumentError {
    /// A JSON path such as `user.address[2]`; empty for the arguments as a whole.
    path: Cow<'static, str>,
    reason: String,
}

impl ArgumentError {
    /// An error at `path` in the arguments, such as `user.address[2]`. An empty path means the
    /// arguments as a whole. `reason` says what is wrong and what is expected.
    pub fn new(path: impl Into<Cow<'static, str>>, reason: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            reason: reason.into(),
        }
    }
}

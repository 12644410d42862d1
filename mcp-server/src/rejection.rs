//! Why an extractor found nothing.

use std::borrow::Cow;

use mcp_core::Fault;

/// An extractor did not find what it needs; the handler does not run.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Rejection {
    /// The arguments do not fit: told to the language model, which can mend them.
    #[error(transparent)]
    Arguments(#[from] ArgumentError),
    /// Anything else: told to the client.
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// The arguments of a call do not fit.
// spec: TOOL-20
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid arguments: {}{reason}", if path.is_empty() { String::new() } else { format!("`{path}`: ") })]
pub struct ArgumentError {
    /// Where: a JSON path such as `user.address[2]`; empty for the whole.
    path: Cow<'static, str>,
    /// What is wrong and what is expected.
    reason: String,
}

impl ArgumentError {
    /// What is wrong, and where in the arguments.
    pub fn new(path: impl Into<Cow<'static, str>>, reason: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            reason: reason.into(),
        }
    }
}

impl Rejection {
    /// Something that the transport or a layer should have supplied is missing.
    #[cold]
    pub fn missing(what: impl Into<Cow<'static, str>>) -> Self {
        Self::Fault(Fault::bad_params(what))
    }
}

//! How a tool fails.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/tools#error-handling>

use std::error::Error;

use mcp_core::{Fault, Reply};
use mcp_types::CallToolResult;

use crate::failure::protocol_errors;
use crate::rejection::Rejection;
use crate::round::AskError;

/// Why a tool failed.
///
/// Every error turns into one by `?`: its text (not that of its sources, which go to the log)
/// becomes a result with `isError`, for the language model to read. What the client has to know
/// as a protocol error is made by [`invalid_params`](Self::invalid_params),
/// [`protocol`](Self::protocol) or [`fault`](Self::fault).
///
/// # Examples
///
/// ```
/// use mcp_server::ToolError;
///
/// async fn read(path: String) -> Result<String, ToolError> {
///     if path.contains("..") {
///         return Err(ToolError::new("the path must stay below the root"));
///     }
///     Ok(std::fs::read_to_string(path)?)
/// }
/// ```
// spec: TOOL-19, TOOL-20
#[derive(Debug)]
pub struct ToolError(Kind);

#[derive(Debug)]
enum Kind {
    /// For the language model.
    Failed(Box<dyn Error + Send + Sync>),
    /// For the language model, with content of its own.
    Result(Box<CallToolResult>),
    /// For the client.
    Fault(Fault),
}

impl ToolError {
    /// A failure that the language model shall read.
    pub fn new(text: impl Into<String>) -> Self {
        Self::from(text.into())
    }

    /// A failure with content of its own; `isError` is set.
    pub fn with_result(mut result: CallToolResult) -> Self {
        result.is_error = Some(true);
        result.structured_content = None;
        Self(Kind::Result(Box::new(result)))
    }

    protocol_errors!();

    pub(super) fn into_reply(self, tool: &str) -> Reply {
        match self.0 {
            Kind::Failed(error) => {
                if let Some(fault) = AskError::fault_of(&*error) {
                    return fault.into();
                }
                if let Some(source) = error.source() {
                    tracing::warn!(tool, %error, %source, "tool failed");
                }
                CallToolResult::error(error.to_string()).into()
            }
            Kind::Result(result) => (*result).into(),
            Kind::Fault(fault) => fault.into(),
        }
    }
}

impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self(Kind::Failed(error.into()))
    }
}

impl ToolError {
    pub(crate) fn rejected(rejection: Rejection) -> Self {
        match rejection {
            Rejection::Arguments(error) => error.into(),
            Rejection::Fault(fault) => Self::fault(fault),
        }
    }
}

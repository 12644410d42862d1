//! Errors of tools.
//!
//! Specification: <https://modelcontextprotocol.io/specification/2026-07-28/server/tools#error-handling>

use std::error::Error;

use mcp_core::{Fault, Reply};
use mcp_types::CallToolResult;

use super::error::protocol_errors;
use super::mask::log_masked;
use crate::elicitation_id;
use crate::input_round::AskError;
use crate::rejection::{ArgumentError, Rejection};

/// The error of a tool.
///
/// The `?` operator converts every error. Its message becomes a result with `isError`, which the
/// language model reads; its sources go to the log only.
/// [`Server::mask_errors`](crate::Server::mask_errors) hides the message, except that of
/// [`new`](Self::new). Use
/// [`invalid_params`](Self::invalid_params), [`protocol`](Self::protocol) or [`fault`](Self::fault)
/// for errors that the client should handle instead of the model.
///
/// # Examples
///
/// ```
/// use mcp::ToolError;
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
pub struct ToolError(ToolErrorRepr);

#[derive(Debug)]
enum ToolErrorRepr {
    /// A message that was written for the language model.
    Text(String),
    /// An error that was returned by `?`.
    Error(Box<dyn Error + Send + Sync>),
    /// Content for the language model.
    Content(Box<CallToolResult>),
    /// A protocol error for the client.
    Fault(Fault),
}

impl ToolError {
    /// Creates an error with a message for the language model.
    pub fn new(message: impl Into<String>) -> Self {
        Self(ToolErrorRepr::Text(message.into()))
    }

    /// Creates an error with content for the language model. Sets `isError` and removes structured
    /// content.
    pub fn with_result(mut result: CallToolResult) -> Self {
        result.is_error = Some(true);
        result.structured_content = None;
        Self(ToolErrorRepr::Content(Box::new(result)))
    }

    protocol_errors!();

    /// Creates a protocol error from a fault.
    pub fn fault(fault: Fault) -> Self {
        Self(ToolErrorRepr::Fault(fault))
    }

    pub(crate) fn from_rejection(rejection: Rejection) -> Self {
        match rejection {
            Rejection::Arguments(error) => Self::new(error.to_string()),
            Rejection::Fault(fault) => Self::fault(fault),
        }
    }

    /// Returns the reply to the client. `masks_errors` hides messages of errors that were returned by `?`.
    pub(crate) fn into_reply(self, tool: &str, masks_errors: bool) -> Reply {
        match self.0 {
            ToolErrorRepr::Text(message) => CallToolResult::error(message).into(),
            ToolErrorRepr::Error(error) => {
                if let Some(fault) = AskError::find_fault(&*error) {
                    return fault.into();
                }
                if masks_errors && !error.is::<ArgumentError>() {
                    let number = log_masked("tool", tool, &*error);
                    return CallToolResult::error(format!("the tool failed (error {number})"))
                        .into();
                }
                if let Some(source) = error.source() {
                    tracing::warn!(tool, %error, %source, "tool failed");
                }
                CallToolResult::error(error.to_string()).into()
            }
            ToolErrorRepr::Content(result) => (*result).into(),
            ToolErrorRepr::Fault(fault) => elicitation_id::with_ids(fault).into(),
        }
    }
}

impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self(ToolErrorRepr::Error(error.into()))
    }
}

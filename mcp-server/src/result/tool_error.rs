//! Tool errors.
//!
//! Specification: <https://modelcontextprotocol.io/specification/2026-07-28/server/tools#error-handling>

use std::error::Error;
use std::fmt;

use mcp_core::{Fault, Reply};
use mcp_types::CallToolResult;

use super::error::{ErrorRepr, PromptError, ResourceError, errors};
use super::mask::log_masked;
use crate::elicitation_id;
use crate::input_round::AskError;
use crate::rejection::{ArgumentError, Rejection};

errors! {
    /// A tool error.
    ///
    /// The `?` operator converts every error. Its message becomes a result with `isError`, which the
    /// language model reads; its sources go to the log only.
    /// [`Server::mask_errors`](crate::Server::mask_errors) hides the message, except that of
    /// [`new`](Self::new). Use
    /// [`invalid_params`](Self::invalid_params), [`protocol`](Self::protocol) or [`fault`](Self::fault)
    /// for errors that the client should handle instead of the model.
    ///
    /// [`to_string`](ToString::to_string) returns the message. In functions that tools share with resources and prompts,
    /// `?` converts the error into a [`ResourceError`] or a [`PromptError`] with the same message.
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
    ToolError;
}

/// A return value that is not JSON, such as a number that is not finite.
#[derive(Debug, thiserror::Error)]
#[error("the result is not JSON: {0}")]
struct NotJson(String);

impl ToolError {
    /// Creates an error with a message for the language model.
    pub fn new(message: impl Into<String>) -> Self {
        Self(ErrorRepr::Text(message.into()))
    }

    /// Creates an error with content for the language model. Sets `isError` and removes structured
    /// content.
    pub fn with_result(mut result: CallToolResult) -> Self {
        result.is_error = Some(true);
        result.structured_content = None;
        Self(ErrorRepr::Content(Box::new(result)))
    }

    /// Creates the error for a return value that is not JSON.
    pub(super) fn not_json(error: &serde_json::Error) -> Self {
        Self(ErrorRepr::Handler(Box::new(NotJson(error.to_string()))))
    }

    /// Adds the index of the element that is not JSON.
    pub(super) fn in_element(mut self, index: usize) -> Self {
        if let ErrorRepr::Handler(error) = &mut self.0
            && let Some(NotJson(reason)) = error.downcast_mut()
        {
            *reason = format!("element {index}: {reason}");
        }
        self
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
            ErrorRepr::Text(message) => CallToolResult::error(message).into(),
            ErrorRepr::Handler(error) => {
                if let Some(fault) = AskError::find_fault(&*error) {
                    return fault.into();
                }
                let is_own =
                    error.is::<ArgumentError>() || error.is::<NotJson>() || error.is::<AskError>();
                if masks_errors && !is_own {
                    let number = log_masked("tool", tool, &*error);
                    return CallToolResult::error(format!("the tool failed (error {number})"))
                        .into();
                }
                if let Some(source) = error.source() {
                    tracing::warn!(tool, error = %mcp_types::escaped(&error), source = %mcp_types::escaped(source), "tool failed");
                }
                CallToolResult::error(error.to_string()).into()
            }
            ErrorRepr::Content(result) => (*result).into(),
            ErrorRepr::Fault(fault) => elicitation_id::with_ids(fault).into(),
        }
    }
}

/// The message for the language model, or that of the protocol error.
impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            ErrorRepr::Text(message) => f.write_str(message),
            ErrorRepr::Handler(error) => error.fmt(f),
            ErrorRepr::Content(result) => f.write_str(&result.text()),
            ErrorRepr::Fault(fault) => fault.fmt(f),
        }
    }
}

macro_rules! converts_to {
    ($($error:ident),*) => {
        $(impl From<ToolError> for $error {
            fn from(error: ToolError) -> Self {
                Self(error.0)
            }
        })*
    };
}

converts_to!(ResourceError, PromptError);

#[cfg(test)]
mod tests {
    use std::io;

    use mcp_core::ItemKind;
    use mcp_types::CallToolResult;

    use super::{ResourceError, ToolError};
    use crate::result::error::{ItemRef, NotFound};

    #[test]
    fn message_is_displayed_and_stays_in_a_resource() {
        let errors = || -> [(ToolError, &str); 4] {
            [
                (ToolError::new("too far"), "too far"),
                (io::Error::other("disk full").into(), "disk full"),
                (
                    ToolError::with_result(CallToolResult::error("no such city")),
                    "no such city",
                ),
                (ToolError::invalid_params("`n`: missing"), "`n`: missing"),
            ]
        };
        for (error, message) in errors() {
            assert!(error.to_string().contains(message), "{error}");
        }
        let item = ItemRef {
            kind: ItemKind::Resource,
            id: "a://b",
        };
        for (error, message) in errors() {
            let fault = ResourceError::from(error).into_fault(item, false);
            assert!(fault.to_string().contains(message), "{fault}");
        }
        let not_found = ResourceError::from(ToolError::from(NotFound)).into_fault(item, false);
        assert_eq!(not_found, item.not_found());
    }
}

//! What a tool returned becomes its result.
//!
//! A type that does not is told once, by [`tool`](super::tool); here it is accepted in silence,
//! again by method lookup: [`ByResult`] takes the value itself, [`NoResult`] a reference to it.

use mcp_types::CallToolResult;

use crate::tools::{IntoToolResult, ToolError};

/// What a tool returned.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "only macros make it")]
pub struct Returned<T>(pub T);

/// First step: results.
pub trait ByResult {
    /// Becomes the result.
    ///
    /// # Errors
    ///
    /// Why the tool failed.
    fn into_result(self) -> Result<CallToolResult, ToolError>;
}

impl<T: IntoToolResult> ByResult for Returned<T> {
    fn into_result(self) -> Result<CallToolResult, ToolError> {
        self.0.into_tool_result()
    }
}

/// Second step: everything else. Never called.
pub trait NoResult {
    /// Never called.
    ///
    /// # Errors
    ///
    /// Always.
    fn into_result(self) -> Result<CallToolResult, ToolError>;
}

impl<T> NoResult for &Returned<T> {
    fn into_result(self) -> Result<CallToolResult, ToolError> {
        Err(ToolError::new("not a result"))
    }
}

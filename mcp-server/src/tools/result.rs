//! What a tool may return.

use std::borrow::Cow;

use mcp_types::{CallToolResult, ContentBlock, JsonObject};
use schemars::JsonSchema;
use serde::Serialize;

use super::ToolError;
use crate::schema;

/// A value that becomes the result of a tool.
///
/// | type | result |
/// |---|---|
/// | `()` | no content |
/// | `String`, `&str`, `Cow<'_, str>`, numbers, `bool` | one text |
/// | [`Json<T>`], a type with `#[derive(mcp::Output)]` | structured content, its schema, and its text |
/// | [`ContentBlock`], `Vec<ContentBlock>` | that content |
/// | [`CallToolResult`] | itself |
/// | `Result<T, E>` with `E: Into<ToolError>` | the value, or the failure |
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "this does not become a result",
    note = "return `Json<{Self}>` (or derive `mcp::Output` for it) for structured content, or a `String`, a number, `ContentBlock`, `Vec<ContentBlock>`, `CallToolResult`",
    note = "a `Result` needs an error that `?` turns into `ToolError`: any `std::error::Error`, `anyhow::Error`, `String` or `&str`"
)]
pub trait IntoToolResult {
    /// Becomes the result.
    ///
    /// # Errors
    ///
    /// Why the tool failed.
    fn into_tool_result(self) -> Result<CallToolResult, ToolError>;

    /// The schema of the structured content, when there is always one of the same shape.
    fn output_schema() -> Option<JsonObject> {
        None
    }
}

/// A value as structured content. Its schema becomes the tool's output schema.
// spec: TOOL-14, TOOL-15
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::exhaustive_structs, reason = "users make it")]
pub struct Json<T>(pub T);

impl<T: Serialize + JsonSchema> IntoToolResult for Json<T> {
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        CallToolResult::structured(&self.0)
            .map_err(|error| ToolError::new(format!("the result is no JSON: {error}")))
    }

    fn output_schema() -> Option<JsonObject> {
        Some(schema::of_output::<T>())
    }
}

impl IntoToolResult for CallToolResult {
    #[inline]
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        Ok(self)
    }
}

impl IntoToolResult for () {
    #[inline]
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        Ok(CallToolResult::default())
    }
}

impl IntoToolResult for ContentBlock {
    #[inline]
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        Ok(CallToolResult::new(vec![self]))
    }
}

impl IntoToolResult for Vec<ContentBlock> {
    #[inline]
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        Ok(CallToolResult::new(self))
    }
}

impl<T: IntoToolResult, E: Into<ToolError>> IntoToolResult for Result<T, E> {
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        self.map_err(Into::into)?.into_tool_result()
    }

    fn output_schema() -> Option<JsonObject> {
        T::output_schema()
    }
}

macro_rules! texts {
    ($($text:ty),*) => {
        $(impl IntoToolResult for $text {
            fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
                Ok(CallToolResult::from_text(self))
            }
        })*
    };
}

macro_rules! displayed {
    ($($value:ty),*) => {
        $(impl IntoToolResult for $value {
            fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
                Ok(CallToolResult::from_text(self.to_string()))
            }
        })*
    };
}

texts!(String, &str, Box<str>, Cow<'_, str>);
displayed!(
    bool, char, f32, f64, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize
);

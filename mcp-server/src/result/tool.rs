//! Return values of tools.

use std::borrow::Cow;

use mcp_types::{CallToolResult, ContentBlock, JsonObject};
use schemars::JsonSchema;
use serde::Serialize;

use super::json::Json;
use super::tool_error::ToolError;
use crate::schema;

/// A return value of a tool.
///
/// | type | result |
/// |---|---|
/// | `()` | no content |
/// | `String`, `&str`, `Cow<'_, str>`, numbers, `bool` | one text block |
/// | [`Json<T>`], a type with `#[derive(mcp::Output)]` | structured content with a schema, and the same JSON as text |
/// | [`ContentBlock`], `Vec<ContentBlock>` | these blocks |
/// | [`CallToolResult`] | itself |
/// | `Result<T, E>` with `E: Into<ToolError>` | the value, or the error |
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "this does not become a result",
    note = "return `Json<{Self}>` (or derive `mcp::Output` for it) for structured content, or a `String`, a number, `ContentBlock`, `Vec<ContentBlock>`, `CallToolResult`",
    note = "a `Result` needs an error that `?` turns into `ToolError`: any `std::error::Error`, `anyhow::Error`, `String` or `&str`"
)]
pub trait IntoToolResult {
    /// Converts the value into a result.
    ///
    /// # Errors
    ///
    /// Returns the [`ToolError`] of a tool that failed.
    fn into_tool_result(self) -> Result<CallToolResult, ToolError>;

    /// Returns the schema of the structured content, if all results of the type have one schema.
    fn output_schema() -> Option<JsonObject> {
        None
    }
}

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
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        Ok(self)
    }
}

impl IntoToolResult for () {
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        Ok(CallToolResult::default())
    }
}

impl IntoToolResult for ContentBlock {
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        Ok(CallToolResult::new(vec![self]))
    }
}

impl IntoToolResult for Vec<ContentBlock> {
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

macro_rules! strings {
    ($($string:ty),*) => {
        $(impl IntoToolResult for $string {
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

strings!(String, &str, Box<str>, Cow<'_, str>);
displayed!(
    bool, char, f32, f64, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize
);

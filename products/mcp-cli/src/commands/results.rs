//! Tool results.

use std::path::Path;

use mcp::CallToolResult;

use super::contents::Contents;
use super::support::to_json;
use crate::failure::{Failure, FailureKind};
use crate::output::Output;

/// Prints a tool result.
pub(super) async fn print(
    name: &str,
    result: &CallToolResult,
    save: Option<&Path>,
    output: &Output,
) -> Result<(), Failure> {
    let mut contents = Contents::new(name, save, output);
    if output.json || !result.is_error() {
        for block in &result.content {
            contents.show(block).await?;
        }
    }
    if output.json {
        output.document(&to_json(result)?);
    } else if let Some(value) = &result.structured_content
        && result.content.is_empty()
        && !result.is_error()
    {
        output.json_text(value.get());
    }
    check(result)
}

/// Refuses the result of a tool that failed.
pub(super) fn check(result: &CallToolResult) -> Result<(), Failure> {
    if !result.is_error() {
        return Ok(());
    }
    let texts = result.content.iter().filter_map(|block| block.as_text());
    let text = texts.collect::<Vec<_>>().join("\n");
    let message = format!("the tool failed: {text}");
    Err(Failure::new(FailureKind::Tool, message))
}

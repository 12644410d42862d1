//! Results of tools.

use std::path::Path;

use mcp::CallToolResult;

use super::contents::Contents;
use super::support::to_json;
use crate::failure::{Failure, FailureKind};
use crate::output::Output;

/// Prints the result of a tool.
pub(super) async fn print(
    name: &str,
    result: &CallToolResult,
    save: Option<&Path>,
    output: &Output,
) -> Result<(), Failure> {
    let mut contents = Contents::new(name, save, output);
    if output.json {
        contents.save_blocks(&result.content).await?;
        output.document(&to_json(result)?);
    } else if result.is_error != Some(true) {
        contents.print_blocks(&result.content).await?;
        if let (true, Some(value)) = (result.content.is_empty(), &result.structured_content) {
            output.json_text(value.get());
        }
    }
    check(result)
}

/// Refuses the result of a tool that failed.
pub(super) fn check(result: &CallToolResult) -> Result<(), Failure> {
    if result.is_error != Some(true) {
        return Ok(());
    }
    let texts = result.content.iter().filter_map(|block| block.as_text());
    let text = texts.collect::<Vec<_>>().join("\n");
    let message = format!("the tool failed: {text}");
    Err(Failure::new(FailureKind::Tool, message))
}

//! The tools of the suite. The suite calls the first one without arguments, so its position must not
//! change.

use std::time::Duration;

use conformance::{PNG, WAV};
use mcp::prelude::*;
use mcp::types::ResourceContents;
use tokio::time::sleep;

use crate::capabilities::Sampling;

const PAUSE: Duration = Duration::from_millis(50);

pub(crate) struct Everything;

/// A server for the conformance suite.
#[mcp::server(name = "everything-server")]
impl Everything {
    /// Returns simple text content for testing
    #[tool]
    fn test_simple_text() -> &'static str {
        "This is a simple text response for testing."
    }

    /// Returns image content for testing
    #[tool]
    fn test_image_content() -> ContentBlock {
        ContentBlock::image(PNG, "image/png")
    }

    /// Returns audio content for testing
    #[tool]
    fn test_audio_content() -> ContentBlock {
        ContentBlock::audio(WAV, "audio/wav")
    }

    /// Returns embedded resource content for testing
    #[tool]
    fn test_embedded_resource() -> ContentBlock {
        let text = "This is an embedded resource content.";
        let contents = ResourceContents::text("test://embedded-resource", text);
        ContentBlock::resource(contents.mime_type("text/plain"))
    }

    /// Returns multiple content types in one response
    #[tool]
    fn test_multiple_content_types() -> Vec<ContentBlock> {
        let json = r#"{"test":"data","value":123}"#;
        let contents = ResourceContents::text("test://mixed-content-resource", json);
        vec![
            ContentBlock::text("Multiple content types test:"),
            ContentBlock::image(PNG, "image/png"),
            ContentBlock::resource(contents.mime_type("application/json")),
        ]
    }

    /// Emits log messages during execution
    #[tool]
    async fn test_tool_with_logging(log: Log) -> &'static str {
        log.info("Tool execution started");
        sleep(PAUSE).await;
        log.info("Tool processing data");
        sleep(PAUSE).await;
        log.info("Tool execution completed");
        "Tool with logging executed successfully"
    }

    /// Emits one log message if the request enables logging
    #[tool]
    fn test_logging_tool(log: Log) -> &'static str {
        log.info("Logging tool executed");
        "Logging tool executed successfully"
    }

    /// Always returns an error
    #[tool]
    fn test_error_handling() -> Result<(), ToolError> {
        Err(ToolError::new(
            "This tool intentionally returns an error for testing",
        ))
    }

    /// Reports progress during execution
    #[tool]
    async fn test_tool_with_progress(progress: Progress) -> &'static str {
        progress.report(0.0, 100.0, "Completed step 0 of 100").await;
        sleep(PAUSE).await;
        progress
            .report(50.0, 100.0, "Completed step 50 of 100")
            .await;
        sleep(PAUSE).await;
        progress
            .report(100.0, 100.0, "Completed step 100 of 100")
            .await;
        "Tool with progress executed successfully"
    }

    /// Requires that the client declares sampling
    #[tool]
    fn test_missing_capability(_sampling: Sampling) -> &'static str {
        "The client declares sampling"
    }

    /// Mirrors its argument in the header `Mcp-Param-Value`
    #[tool]
    fn test_custom_header(#[arg(header = "Value")] value: String) -> String {
        value
    }
}

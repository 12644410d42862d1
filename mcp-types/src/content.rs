//! Content of tool results, prompts and messages.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result>

mod annotations;
mod blob;
mod block;
mod resource;
mod tool_use;

pub use annotations::{Annotations, Role};
pub use blob::Blob;
pub(crate) use block::lines;
pub use block::{AudioContent, ContentBlock, ImageContent, TextContent, ToolResultContent};
pub use resource::{
    BlobResourceContents, EmbeddedResource, ResourceContents, ResourceLink, TextResourceContents,
};
pub use tool_use::ToolUseContent;

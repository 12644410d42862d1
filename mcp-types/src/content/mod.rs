//! What tools, prompts and messages are made of.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result>

mod annotations;
mod blob;
mod block;
mod resource;
mod text;
mod tool;

pub use annotations::{Annotations, InvalidAnnotations, Role};
pub use blob::Blob;
pub use block::{AudioContent, ContentBlock, ImageContent, TextContent};
pub use resource::{
    BlobResourceContents, EmbeddedResource, ResourceContents, ResourceLink, TextResourceContents,
};
pub use text::Text;
pub use tool::{ToolResultContent, ToolUseContent};

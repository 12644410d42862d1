//! Content of results that have structured content.

use std::borrow::Cow;

use mcp_core::{Reply, ResultBody, wire};
use mcp_types::{CallToolResult, ContentBlock};

/// The content of tool results that have structured content.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContentPolicy {
    /// Structured content and the same JSON as text, for clients that do not read structured content.
    #[default]
    Both,
    /// Structured content only, for clients that would pass both to their language model. Clients of
    /// revisions without structured content receive the text.
    StructuredOnly,
}

impl ContentPolicy {
    /// Removes the text that repeats the structured content.
    pub(crate) fn apply(self, mut reply: Reply) -> Reply {
        if self == Self::StructuredOnly
            && let Reply::Complete { body, .. } = &mut reply
        {
            if let ResultBody::Raw(_) = body
                && let Some(result) = wire::tool_result(body).map(Cow::into_owned)
            {
                *body = result.into();
            }
            if let ResultBody::CallTool(result) = body
                && repeats_structured_content(result)
            {
                result.content.clear();
            }
        }
        reply
    }
}

fn repeats_structured_content(result: &CallToolResult) -> bool {
    let (Some(structured), [only]) = (&result.structured_content, result.content.as_slice()) else {
        return false;
    };
    ContentBlock::as_text(only).is_some_and(|text| text == structured.get())
}

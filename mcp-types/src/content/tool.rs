//! Calls of tools and their results inside of a conversation with a language model.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/client/sampling>

use serde_json::Value;

use super::ContentBlock;
use super::block::PlainBlock;
use crate::json::{
    Piece, Read, ReadMembers, Take, Write, WriteMembers, members, read_and_written, read_via,
};
use crate::setters::setters;
use crate::{CallToolParams, CallToolResult, Meta, RawObject};

/// A language model wants to call a tool (2025-11-25 and later, in sampling alone).
// spec: SAMP-07
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolUseContent {
    /// Names this call; its result names it too.
    pub id: String,
    /// Which tool.
    pub name: String,
    /// The arguments.
    pub input: RawObject,
    /// What it carries beside; goes back to the language model with the result.
    // spec: SAMP-15
    pub meta: Option<Meta>,
}

members!(ToolUseContent as "a call of a tool" {
    "id" => id,
    "name" => name,
    "input" => input,
    "_meta" => meta or nothing,
});

impl ToolUseContent {
    setters! { meta }

    /// A call of a tool.
    pub fn new(id: impl Into<String>, name: impl Into<String>, input: RawObject) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            input,
            meta: None,
        }
    }

    /// The call as a server takes it.
    pub fn to_call(&self) -> CallToolParams {
        CallToolParams::new(&*self.name, Some(self.input.clone()))
    }
}

/// What a tool said to a language model (2025-11-25 and later, in sampling alone).
// spec: SAMP-07
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolResultContent {
    /// Which call it answers: [`ToolUseContent::id`].
    pub tool_use_id: String,
    /// What the tool said. Calls and results of tools cannot stand in here; what looks like one is
    /// kept as [`ContentBlock::Other`].
    pub content: Vec<ContentBlock>,
    /// What the tool said as one JSON value; `null` is a value.
    pub structured_content: Option<Value>,
    /// The tool failed.
    pub is_error: Option<bool>,
    /// What it carries beside.
    pub meta: Option<Meta>,
}

/// The same, as it is read: what is in it is no call and no result of a tool.
struct PlainResult {
    tool_use_id: String,
    content: Vec<PlainBlock>,
    structured_content: Option<Value>,
    is_error: Option<bool>,
    meta: Option<Meta>,
}

members!(PlainResult as "the result of a tool" {
    "toolUseId" => tool_use_id,
    "content" => content,
    "structuredContent" => structured_content even null,
    "isError" => is_error or nothing,
    "_meta" => meta or nothing,
});

impl Write for ToolResultContent {
    #[inline]
    fn piece(&self) -> Piece<'_> {
        Piece::Members(self)
    }
}

impl WriteMembers for ToolResultContent {
    #[inline]
    fn give(&self, take: &mut Take<'_>) {
        let values: &[&dyn Write] = &[
            &self.tool_use_id,
            &self.content,
            &self.structured_content,
            &self.is_error,
            &self.meta,
        ];
        take(PlainResult::blank().shape(), values, None);
    }
}

impl From<PlainResult> for ToolResultContent {
    fn from(found: PlainResult) -> Self {
        Self {
            tool_use_id: found.tool_use_id,
            content: found.content.into_iter().map(|block| block.0).collect(),
            structured_content: found.structured_content,
            is_error: found.is_error,
            meta: found.meta,
        }
    }
}

read_via!(ToolResultContent, Self::default(), |found: PlainResult| Ok(
    found.into()
));
read_and_written!(ToolResultContent);

impl ToolResultContent {
    setters! { meta }

    /// What a tool said in answer to the call `tool_use_id`.
    pub fn new(tool_use_id: impl Into<String>, content: Vec<ContentBlock>) -> Self {
        Self {
            tool_use_id: tool_use_id.into(),
            content,
            ..Self::default()
        }
    }

    /// The result of a `tools/call` in answer to the call `tool_use_id`.
    pub fn of(tool_use_id: impl Into<String>, result: CallToolResult) -> Self {
        let structured = result.structured_content;
        Self {
            tool_use_id: tool_use_id.into(),
            content: result.content,
            // Raw JSON was valid when it was made.
            structured_content: structured.and_then(|raw| serde_json::from_str(raw.get()).ok()),
            is_error: result.is_error,
            meta: result.meta,
        }
    }

    /// The tool failed; the content says why.
    #[must_use]
    pub fn failed(mut self) -> Self {
        self.is_error = Some(true);
        self
    }

    /// Sets what the tool said as one JSON value.
    #[must_use]
    pub fn structured(mut self, value: impl Into<Value>) -> Self {
        self.structured_content = Some(value.into());
        self
    }
}

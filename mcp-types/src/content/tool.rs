//! Calls of tools and their results inside of a conversation with a language model.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/client/sampling>

use std::fmt;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::ContentBlock;
use super::block::PlainBlock;
use crate::members::read_members;
use crate::setters::setters;
use crate::{CallToolParams, CallToolResult, Meta, RawObject};

/// A language model wants to call a tool (2025-11-25 and later, in sampling alone).
// spec: SAMP-07
#[derive(Debug, Clone, PartialEq, Serialize)]
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
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

read_members!(ToolUseContent as "a call of a tool" from ToolUseContent::new("", "", RawObject::empty()), {
    "id" => id,
    "name" => name,
    "input" => input,
} {
    "_meta" => meta,
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
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(rename_all = "camelCase")]
pub struct ToolResultContent {
    /// Which call it answers: [`ToolUseContent::id`].
    pub tool_use_id: String,
    /// What the tool said. Calls and results of tools cannot stand in here; what looks like one is
    /// kept as [`ContentBlock::Other`].
    #[serde(deserialize_with = "plain_blocks")]
    pub content: Vec<ContentBlock>,
    /// What the tool said as one JSON value; `null` is a value.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub structured_content: Option<Value>,
    /// The tool failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// What it carries beside.
    #[serde(default, rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

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

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Reads blocks of which none holds blocks itself, so that no peer decides how deep we recurse.
fn plain_blocks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ContentBlock>, D::Error> {
    struct Blocks;

    impl<'de> Visitor<'de> for Blocks {
        type Value = Vec<ContentBlock>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("content blocks")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            let mut blocks = Vec::new();
            while let Some(PlainBlock(block)) = seq.next_element()? {
                blocks.push(block);
            }
            Ok(blocks)
        }
    }

    deserializer.deserialize_seq(Blocks)
}

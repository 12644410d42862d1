//! Tool calls and tool results in sampling messages.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/client/sampling>

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::ContentBlock;
use super::block::ResultBlock;
use crate::setters::setters;
use crate::{CallToolParams, CallToolResult, Meta, RawObject, de};

/// A tool call by a language model (2025-11-25 and later, only in sampling).
// spec: SAMP-07
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolUseContent {
    /// Id of the call, which its result repeats.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// Arguments of the call.
    pub input: RawObject,
    /// Protocol-level metadata (`_meta`). It is returned to the language model with the result.
    // spec: SAMP-15
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl ToolUseContent {
    setters! { meta }

    /// Creates a tool call.
    pub fn new(id: impl Into<String>, name: impl Into<String>, input: RawObject) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            input,
            meta: None,
        }
    }

    /// Returns the parameters of the `tools/call` request for this call.
    pub fn to_call(&self) -> CallToolParams {
        CallToolParams::new(&*self.name, Some(self.input.clone()))
    }
}

/// The result of a tool call, for a language model (2025-11-25 and later, only in sampling).
// spec: SAMP-07
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolResultContent {
    /// Id of the tool call: [`ToolUseContent::id`].
    pub tool_use_id: String,
    /// Content of the result. It cannot contain tool calls and tool results: such blocks are read as
    /// [`ContentBlock::Other`].
    #[serde(deserialize_with = "result_blocks")]
    pub content: Vec<ContentBlock>,
    /// Structured result: any JSON value, including `null`.
    #[serde(
        default,
        deserialize_with = "de::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub structured_content: Option<Value>,
    /// Failure flag. Absent means `false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// Protocol-level metadata (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

fn result_blocks<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<ContentBlock>, D::Error> {
    let blocks = Vec::<ResultBlock>::deserialize(deserializer)?;
    Ok(blocks.into_iter().map(|block| block.0).collect())
}

impl ToolResultContent {
    setters! { meta }

    /// Creates the result of the call `tool_use_id`.
    pub fn new(tool_use_id: impl Into<String>, content: Vec<ContentBlock>) -> Self {
        Self {
            tool_use_id: tool_use_id.into(),
            content,
            ..Self::default()
        }
    }

    /// Creates the result of the call `tool_use_id` from the result of a `tools/call` request.
    pub fn of(tool_use_id: impl Into<String>, result: CallToolResult) -> Self {
        let structured = result.structured_content;
        Self {
            tool_use_id: tool_use_id.into(),
            content: result.content,
            structured_content: structured.and_then(|raw| serde_json::from_str(raw.get()).ok()),
            is_error: result.is_error,
            meta: result.meta,
        }
    }

    /// Marks the call as failed. The content describes the failure.
    #[must_use]
    pub fn failed(mut self) -> Self {
        self.is_error = Some(true);
        self
    }

    /// Sets the structured result.
    #[must_use]
    pub fn structured(mut self, value: impl Into<Value>) -> Self {
        self.structured_content = Some(value.into());
        self
    }
}

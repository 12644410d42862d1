//! Messages of a conversation with a language model.

use std::collections::BTreeSet;
use std::fmt;
use std::slice;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::content::{ContentBlock, Role, ToolResultContent, ToolUseContent, lines};
use crate::meta::Meta;

/// Message of a conversation with a language model.
///
/// Spec: <https://modelcontextprotocol.io/specification/2026-07-28/schema#samplingmessage>
// spec: SAMP-07
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SamplingMessage {
    /// The message's speaker.
    pub role: Role,
    /// The message's content.
    pub content: SamplingContent,
    /// Protocol-level metadata (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl SamplingMessage {
    /// Creates a message from one block or a list of blocks.
    pub fn new(role: Role, content: impl Into<SamplingContent>) -> Self {
        Self {
            role,
            content: content.into(),
            meta: None,
        }
    }

    /// Creates a user message.
    pub fn user(content: impl Into<SamplingContent>) -> Self {
        Self::new(Role::User, content)
    }

    /// Creates a message of the language model.
    pub fn assistant(content: impl Into<SamplingContent>) -> Self {
        Self::new(Role::Assistant, content)
    }
}

/// The content of a message: one block, the only form up to 2025-06-18, or a list of blocks.
#[expect(
    clippy::large_enum_variant,
    reason = "most messages have exactly one block"
)]
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(untagged)]
#[non_exhaustive]
pub enum SamplingContent {
    /// One block.
    One(ContentBlock),
    /// A list of blocks (2025-11-25 and later).
    Many(Vec<ContentBlock>),
}

impl SamplingContent {
    /// Returns the blocks.
    pub fn blocks(&self) -> &[ContentBlock] {
        match self {
            Self::One(block) => slice::from_ref(block),
            Self::Many(blocks) => blocks,
        }
    }

    /// Returns the text of all text blocks, separated by line breaks.
    pub fn text(&self) -> String {
        lines(self.blocks().iter().filter_map(ContentBlock::as_text))
    }

    /// Returns the tool calls among the blocks.
    pub(crate) fn tool_uses(&self) -> impl Iterator<Item = &ToolUseContent> {
        self.blocks().iter().filter_map(|block| match block {
            ContentBlock::ToolUse(call) => Some(call),
            _ => None,
        })
    }

    /// Returns the tool results among the blocks.
    pub(crate) fn tool_results(&self) -> impl Iterator<Item = &ToolResultContent> {
        self.blocks().iter().filter_map(|block| match block {
            ContentBlock::ToolResult(result) => Some(result),
            _ => None,
        })
    }
}

impl<T: Into<ContentBlock>> From<T> for SamplingContent {
    fn from(block: T) -> Self {
        Self::One(block.into())
    }
}

impl From<Vec<ContentBlock>> for SamplingContent {
    fn from(blocks: Vec<ContentBlock>) -> Self {
        Self::Many(blocks)
    }
}

impl<'de> Deserialize<'de> for SamplingContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = SamplingContent;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a content block or an array of them")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SamplingContent, A::Error> {
        ContentBlock::deserialize(MapAccessDeserializer::new(map)).map(SamplingContent::One)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<SamplingContent, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(seq)).map(SamplingContent::Many)
    }
}

/// Error for a conversation whose tool calls and tool results do not match.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BrokenConversation {
    /// A message mixes tool results with other content.
    #[error("message {message} mixes tool results with other content")]
    Mixed {
        /// The message's index.
        message: usize,
    },
    /// A message with tool results is not a user message.
    #[error("message {message} has tool results but is not a message of the user")]
    NotTheUser {
        /// The message's index.
        message: usize,
    },
    /// A tool call has no result in the next message.
    #[error("the message after message {message} has no result of the tool call {id:?}")]
    Unanswered {
        /// Index of the message with the call.
        message: usize,
        /// The call's id.
        id: String,
    },
    /// A tool result has no call in the previous message.
    #[error("message {message} has a result of the unknown tool call {id:?}")]
    Unasked {
        /// Index of the message with the result.
        message: usize,
        /// The call's id.
        id: String,
    },
}

/// Checks that the message after tool calls contains one result for each call and nothing else.
// spec: SAMP-08, SAMP-09
pub(super) fn check(messages: &[SamplingMessage]) -> Result<(), BrokenConversation> {
    let mut open = BTreeSet::new();
    let unanswered = |message: usize, open: &BTreeSet<&str>| match open.first() {
        Some(id) => Err(BrokenConversation::Unanswered {
            message,
            id: (*id).to_owned(),
        }),
        None => Ok(()),
    };
    for (index, message) in messages.iter().enumerate() {
        let results: Vec<_> = message.content.tool_results().collect();
        if !results.is_empty() {
            if results.len() != message.content.blocks().len() {
                return Err(BrokenConversation::Mixed { message: index });
            }
            if message.role != Role::User {
                return Err(BrokenConversation::NotTheUser { message: index });
            }
        }
        for result in results {
            if !open.remove(&*result.tool_use_id) {
                return Err(BrokenConversation::Unasked {
                    message: index,
                    id: result.tool_use_id.clone(),
                });
            }
        }
        unanswered(index.saturating_sub(1), &open)?;
        if message.role == Role::Assistant {
            open.extend(message.content.tool_uses().map(|call| &*call.id));
        }
    }
    unanswered(messages.len().saturating_sub(1), &open)
}

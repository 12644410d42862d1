//! The messages of a conversation.

use std::collections::BTreeSet;
use std::slice;

use serde_json::Value;

use crate::json::{OneOrMany, Piece, Read, Slot, Write, members, read_and_written};
use crate::text::joined;
use crate::{ContentBlock, Meta, Role, ToolResultContent, ToolUseContent};

/// A message of a conversation with a language model.
// spec: SAMP-07
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SamplingMessage {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: SamplingContent,
    /// What it carries beside.
    pub meta: Option<Meta>,
}

members!(SamplingMessage as "a message" {
    "role" => role,
    "content" => content,
    "_meta" => meta or nothing,
});

impl SamplingMessage {
    /// Somebody says something: one block, or a list of them.
    #[inline]
    pub fn new(role: Role, content: impl Into<SamplingContent>) -> Self {
        Self {
            role,
            content: content.into(),
            meta: None,
        }
    }

    /// The user says something.
    #[inline]
    pub fn user(content: impl Into<SamplingContent>) -> Self {
        Self::new(Role::User, content)
    }

    /// The language model says something.
    #[inline]
    pub fn assistant(content: impl Into<SamplingContent>) -> Self {
        Self::new(Role::Assistant, content)
    }

    /// The results of the tools that the language model called.
    // spec: SAMP-08
    #[inline]
    pub fn tool_results(results: impl IntoIterator<Item = ToolResultContent>) -> Self {
        let blocks: Vec<_> = results.into_iter().map(ContentBlock::ToolResult).collect();
        Self::user(blocks)
    }

    /// Adds a key to `_meta`.
    #[must_use]
    #[inline]
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.meta = Some(self.meta.unwrap_or_default().with(key, value));
        self
    }
}

/// What is said: one block, the only form up to 2025-06-18, or a list of blocks. The form survives.
#[expect(clippy::large_enum_variant, reason = "one block is the rule")]
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum SamplingContent {
    /// One block.
    One(ContentBlock),
    /// A list of blocks (2025-11-25 and later).
    Many(Vec<ContentBlock>),
}

impl SamplingContent {
    /// The blocks, however many.
    #[inline]
    pub fn blocks(&self) -> &[ContentBlock] {
        match self {
            Self::One(block) => slice::from_ref(block),
            Self::Many(blocks) => blocks,
        }
    }

    /// The blocks, however many.
    #[inline]
    pub fn into_blocks(self) -> Vec<ContentBlock> {
        match self {
            Self::One(block) => vec![block],
            Self::Many(blocks) => blocks,
        }
    }

    /// All text blocks, one per line.
    #[inline]
    pub fn text(&self) -> String {
        let texts: Vec<_> = self
            .blocks()
            .iter()
            .filter_map(ContentBlock::as_text)
            .collect();
        joined(&texts, "\n")
    }

    /// The calls of tools among the blocks.
    #[inline]
    pub fn tool_uses(&self) -> impl Iterator<Item = &ToolUseContent> {
        self.blocks().iter().filter_map(|block| match block {
            ContentBlock::ToolUse(call) => Some(call),
            _ => None,
        })
    }

    /// The results of tools among the blocks.
    #[inline]
    pub fn tool_results(&self) -> impl Iterator<Item = &ToolResultContent> {
        self.blocks().iter().filter_map(|block| match block {
            ContentBlock::ToolResult(result) => Some(result),
            _ => None,
        })
    }
}

impl<T: Into<ContentBlock>> From<T> for SamplingContent {
    #[inline]
    fn from(block: T) -> Self {
        Self::One(block.into())
    }
}

impl From<Vec<ContentBlock>> for SamplingContent {
    #[inline]
    fn from(blocks: Vec<ContentBlock>) -> Self {
        Self::Many(blocks)
    }
}

impl Write for SamplingContent {
    #[inline]
    fn piece(&self) -> Piece<'_> {
        match self {
            Self::One(block) => block.piece(),
            Self::Many(blocks) => blocks.piece(),
        }
    }
}

impl Read for SamplingContent {
    #[inline]
    fn blank() -> Self {
        Self::Many(Vec::new())
    }

    #[inline]
    fn slot(&mut self) -> Slot<'_> {
        Slot::OneOrMany(self)
    }
}

impl OneOrMany for SamplingContent {
    #[inline]
    fn what(&self) -> &'static str {
        "a content block or an array of them"
    }

    #[inline]
    fn one(&mut self) -> Slot<'_> {
        *self = Self::One(ContentBlock::blank());
        self.part()
    }

    #[inline]
    fn many(&mut self) -> Slot<'_> {
        *self = Self::Many(Vec::new());
        self.part()
    }
}

impl SamplingContent {
    #[inline]
    fn part(&mut self) -> Slot<'_> {
        match self {
            Self::One(block) => block.slot(),
            Self::Many(blocks) => blocks.slot(),
        }
    }
}

read_and_written!(SamplingContent);

/// Calls and results of tools do not belong together in a conversation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BrokenConversation {
    /// A message has results of tools and something else.
    #[error("message {message} has results of tools beside other content")]
    Mixed {
        /// The message, counted from 0.
        message: usize,
    },
    /// A message has results of tools and does not come from the user.
    #[error("message {message} has results of tools but is not the user's")]
    NotTheUser {
        /// The message, counted from 0.
        message: usize,
    },
    /// A call of a tool has no result in the next message.
    #[error("the next message after message {message} has no result of the tool call {id:?}")]
    Unanswered {
        /// The message with the call, counted from 0.
        message: usize,
        /// The id of the call.
        id: String,
    },
    /// A result of a tool answers no call of the message before.
    #[error("message {message} has a result of the tool call {id:?}, which nobody made")]
    Unasked {
        /// The message with the result, counted from 0.
        message: usize,
        /// The id of the call.
        id: String,
    },
}

/// Checks that every call of a tool is answered by the next message, and by nothing but results.
// spec: SAMP-08, SAMP-09
#[inline]
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

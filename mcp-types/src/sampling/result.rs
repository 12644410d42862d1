//! What a language model answered.

use super::{SamplingContent, SamplingMessage};
use crate::json::members;
use crate::text::text_enum;
use crate::{Meta, Role};

/// The result of `sampling/createMessage`.
// spec: SAMP-12
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CreateMessageResult {
    /// Who speaks: the language model, as a rule.
    pub role: Role,
    /// What is said.
    pub content: SamplingContent,
    /// The language model that answered.
    pub model: String,
    /// Why it stopped, if known.
    pub stop_reason: Option<StopReason>,
    /// What the result carries beside.
    pub meta: Option<Meta>,
}

members!(CreateMessageResult as "the answer of a model" {
    "role" => role,
    "content" => content,
    "model" => model,
    "stopReason" => stop_reason or nothing,
    "_meta" => meta or nothing,
});

impl CreateMessageResult {
    /// The language model `model` says something.
    #[inline]
    pub fn new(model: impl Into<String>, content: impl Into<SamplingContent>) -> Self {
        Self {
            role: Role::Assistant,
            content: content.into(),
            model: model.into(),
            stop_reason: None,
            meta: None,
        }
    }

    /// Says why it stopped.
    #[must_use]
    #[inline]
    pub fn stop_reason(mut self, reason: impl Into<StopReason>) -> Self {
        self.stop_reason = Some(reason.into());
        self
    }

    /// The answer as a message, to go on with the conversation.
    #[inline]
    pub fn into_message(self) -> SamplingMessage {
        SamplingMessage::new(self.role, self.content)
    }
}

text_enum! {
    /// Why a language model stopped. Every other text is a reason, too.
    // spec: SAMP-12
    pub enum StopReason {
        /// It had said everything.
        EndTurn = "endTurn",
        /// It came to one of the texts at which to stop.
        StopSequence = "stopSequence",
        /// It had made as many tokens as it may.
        MaxTokens = "maxTokens",
        /// It wants to call tools (2025-11-25 and later).
        ToolUse = "toolUse",
    }
}

//! What a language model answered.

use serde::Serialize;

use super::{SamplingContent, SamplingMessage};
use crate::members::read_members;
use crate::text::text_enum;
use crate::{Meta, Role};

/// The result of `sampling/createMessage`.
// spec: SAMP-12
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
#[serde(rename_all = "camelCase")]
pub struct CreateMessageResult {
    /// Who speaks: the language model, as a rule.
    pub role: Role,
    /// What is said.
    pub content: SamplingContent,
    /// The language model that answered.
    pub model: String,
    /// Why it stopped, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<StopReason>,
    /// What the result carries beside.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

read_members!(CreateMessageResult as "the answer of a model" from CreateMessageResult::new("", Vec::new()), {
    "role" => role,
    "content" => content,
    "model" => model,
} {
    "stopReason" => stop_reason,
    "_meta" => meta,
});

impl CreateMessageResult {
    /// The language model `model` says something.
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
    pub fn stop_reason(mut self, reason: impl Into<StopReason>) -> Self {
        self.stop_reason = Some(reason.into());
        self
    }

    /// The answer as a message, to go on with the conversation.
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

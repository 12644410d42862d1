//! Results of sampling requests.

use serde::{Deserialize, Serialize};

use super::SamplingContent;
use crate::{content::Role, meta::Meta, text_enum::text_enum};

/// Result of `sampling/createMessage`.
// spec: SAMP-12
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CreateMessageResult {
    /// The message's speaker, usually the language model.
    pub role: Role,
    /// The message's content.
    pub content: SamplingContent,
    /// The language model's name.
    pub model: String,
    /// Reason why the language model stopped, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<StopReason>,
    /// Protocol-level metadata (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl CreateMessageResult {
    /// Creates a result with a message of the language model `model`.
    pub fn new(model: impl Into<String>, content: impl Into<SamplingContent>) -> Self {
        Self {
            role: Role::Assistant,
            content: content.into(),
            model: model.into(),
            stop_reason: None,
            meta: None,
        }
    }

    /// Sets the reason why the language model stopped.
    #[must_use]
    pub fn stop_reason(mut self, reason: impl Into<StopReason>) -> Self {
        self.stop_reason = Some(reason.into());
        self
    }
}

text_enum! {
    /// Reason why a language model stopped. Other strings are valid as well.
    // spec: SAMP-12
    pub enum StopReason {
        /// The language model finished its turn.
        EndTurn = "endTurn",
        /// The language model generated a stop sequence.
        StopSequence = "stopSequence",
        /// The language model reached the maximum number of tokens.
        MaxTokens = "maxTokens",
        /// The language model calls tools (2025-11-25 and later).
        ToolUse = "toolUse",
    }
}

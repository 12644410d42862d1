//! Parameters of sampling requests.

use serde::{Deserialize, Serialize};

use super::message::{self, BrokenConversation, SamplingContent, SamplingMessage};
use crate::{
    de, extra::JsonObject, legacy_tasks::TaskMetadata, meta::Meta, number, setters::setters,
    text_enum::text_enum, tools::Tool,
};

/// Parameters of `sampling/createMessage`.
///
/// # Examples
///
/// ```
/// use mcp::types::{CreateMessageParams, SamplingMessage};
///
/// let params = CreateMessageParams::new([SamplingMessage::user("Name a color.")], 20)
///     .system_prompt("Answer with one word.")
///     .temperature(0.2);
/// assert_eq!(params.max_tokens, 20);
/// ```
// spec: SAMP-06
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CreateMessageParams {
    /// Conversation so far.
    pub messages: Vec<SamplingMessage>,
    /// Maximum number of tokens to generate.
    pub max_tokens: u64,
    /// Preferences for the choice of a language model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_preferences: Option<ModelPreferences>,
    /// System prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// Servers whose context is included. Requires the client capability `sampling.context`.
    // spec: SAMP-05
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_context: Option<IncludeContext>,
    /// Sampling temperature.
    #[serde(
        serialize_with = "number::serialize_option",
        skip_serializing_if = "Option::is_none"
    )]
    pub temperature: Option<f64>,
    /// Sequences that stop the generation.
    #[serde(
        default,
        deserialize_with = "de::null_to_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub stop_sequences: Vec<String>,
    /// Provider-specific metadata.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<JsonObject>,
    /// Tools that the language model may call (2025-11-25 and later). Requires the client capability
    /// `sampling.tools`.
    #[serde(
        default,
        deserialize_with = "de::null_to_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub tools: Vec<Tool>,
    /// Use of tools by the language model (2025-11-25 and later).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<ToolChoice>,
    /// Request to run the request as an experimental task (only 2025-11-25).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskMetadata>,
    /// Protocol-level metadata (`_meta`), only in legacy revisions.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl CreateMessageParams {
    /// Requests the next message of a conversation, with at most `max_tokens` tokens.
    pub fn new(messages: impl IntoIterator<Item = SamplingMessage>, max_tokens: u64) -> Self {
        Self {
            messages: messages.into_iter().collect(),
            max_tokens,
            ..Self::default()
        }
    }

    /// Requests the response to one message of the user, with at most 1000 tokens.
    pub fn user(content: impl Into<SamplingContent>) -> Self {
        Self::new([SamplingMessage::user(content)], 1000)
    }

    /// Sets the maximum number of tokens to generate.
    #[must_use]
    pub fn max_tokens(mut self, tokens: u64) -> Self {
        self.max_tokens = tokens;
        self
    }

    setters! {
        /// Sets the preferences for the choice of a language model.
        model_preferences(preferences: ModelPreferences) => model_preferences;
        /// Sets the system prompt.
        system_prompt(prompt: impl Into<String>) => system_prompt;
        /// Sets the sampling temperature.
        temperature(temperature: f64) => temperature;
    }

    /// Adds a tool that the language model may call.
    #[must_use]
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Sets the use of tools by the language model.
    #[must_use]
    pub fn tool_choice(mut self, mode: ToolChoiceMode) -> Self {
        self.tool_choice = Some(ToolChoice { mode: Some(mode) });
        self
    }

    /// Returns `true` if the request requires the client capability `sampling.tools`.
    // spec: SAMP-03
    pub fn needs_tools(&self) -> bool {
        !self.tools.is_empty() || self.tool_choice.is_some()
    }

    /// Checks that tool calls and tool results of the conversation match.
    ///
    /// # Errors
    ///
    /// Returns [`BrokenConversation`] with the index of the first invalid message.
    // spec: SAMP-08, SAMP-09
    pub fn check_messages(&self) -> Result<(), BrokenConversation> {
        message::check(&self.messages)
    }
}

text_enum! {
    /// Servers whose context is included in a prompt.
    pub enum IncludeContext {
        /// No servers.
        None = "none",
        /// The requesting server.
        ThisServer = "thisServer",
        /// All servers.
        AllServers = "allServers",
    }
}

/// Preferences for the choice of a language model. The client makes the final choice.
///
/// Spec: <https://modelcontextprotocol.io/specification/2026-07-28/client/sampling#model-preferences>
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ModelPreferences {
    /// Preferred language models, best first.
    #[serde(
        default,
        deserialize_with = "de::null_to_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub hints: Vec<ModelHint>,
    /// Importance of low cost, from 0 to 1.
    #[serde(
        serialize_with = "number::serialize_option",
        skip_serializing_if = "Option::is_none"
    )]
    pub cost_priority: Option<f64>,
    /// Importance of low latency, from 0 to 1.
    #[serde(
        serialize_with = "number::serialize_option",
        skip_serializing_if = "Option::is_none"
    )]
    pub speed_priority: Option<f64>,
    /// Capability importance, from 0 to 1.
    #[serde(
        serialize_with = "number::serialize_option",
        skip_serializing_if = "Option::is_none"
    )]
    pub intelligence_priority: Option<f64>,
}

impl ModelPreferences {
    /// Adds the name of a language model or a part of it, best first.
    #[must_use]
    pub fn hint(mut self, name: impl Into<String>) -> Self {
        self.hints.push(ModelHint {
            name: Some(name.into()),
        });
        self
    }
}

/// The name of a preferred language model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ModelHint {
    /// The language model's name or a part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Use of tools by a language model.
// spec: SAMP-06
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ToolChoice {
    /// Mode. Default: [`ToolChoiceMode::Auto`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<ToolChoiceMode>,
}

text_enum! {
    /// The use of tools: free, required or forbidden.
    pub enum ToolChoiceMode {
        /// The language model decides.
        Auto = "auto",
        /// The language model calls at least one tool.
        Required = "required",
        /// The language model calls no tool.
        None = "none",
    }
}

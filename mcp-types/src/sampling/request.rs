//! What is asked of a language model.

use serde_json::Value;

use super::message::{self, BrokenConversation, SamplingContent, SamplingMessage};
use crate::json::members;
use crate::legacy_tasks::TaskMetadata;
use crate::text::text_enum;
use crate::{JsonObject, Meta, Tool};

/// Parameters of `sampling/createMessage`.
///
/// # Examples
///
/// ```
/// use mcp_types::{CreateMessageParams, SamplingMessage};
///
/// let params = CreateMessageParams::new([SamplingMessage::user("Name a colour.")], 20)
///     .system_prompt("Answer with one word.")
///     .temperature(0.2);
/// assert_eq!(params.max_tokens, 20);
/// ```
// spec: SAMP-06
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct CreateMessageParams {
    /// The conversation so far.
    pub messages: Vec<SamplingMessage>,
    /// The most tokens to make.
    // spec: SAMP-10
    pub max_tokens: u64,
    /// Which language model is wanted.
    pub model_preferences: Option<ModelPreferences>,
    /// What the language model is told before the conversation.
    pub system_prompt: Option<String>,
    /// Which servers' context to add. Only for clients that declare `sampling.context`.
    // spec: SAMP-05
    pub include_context: Option<IncludeContext>,
    /// How much chance there is in the answer.
    pub temperature: Option<f64>,
    /// Texts at which to stop.
    pub stop_sequences: Vec<String>,
    /// More for the provider of the language model, in a form of its own.
    pub metadata: Option<JsonObject>,
    /// Tools that the language model may call (2025-11-25 and later). Only for clients that
    /// declare `sampling.tools`.
    // spec: SAMP-04
    pub tools: Vec<Tool>,
    /// Whether it has to call them (2025-11-25 and later).
    pub tool_choice: Option<ToolChoice>,
    /// Runs the request as an experimental task (2025-11-25 alone).
    pub task: Option<TaskMetadata>,
    /// What the request carries beside (legacy era alone).
    pub meta: Option<Meta>,
}

members!(CreateMessageParams as "what a model shall say" {
    "messages" => messages,
    "maxTokens" => max_tokens,
    "modelPreferences" => model_preferences or nothing,
    "systemPrompt" => system_prompt or nothing,
    "includeContext" => include_context or nothing,
    "temperature" => temperature or nothing,
    "stopSequences" => stop_sequences or nothing,
    "metadata" => metadata or nothing,
    "tools" => tools or nothing,
    "toolChoice" => tool_choice or nothing,
    "task" => task or nothing,
    "_meta" => meta or nothing,
});

impl CreateMessageParams {
    /// Asks for the next message of a conversation, of at most `max_tokens`.
    #[inline]
    pub fn new(messages: impl IntoIterator<Item = SamplingMessage>, max_tokens: u64) -> Self {
        Self {
            messages: messages.into_iter().collect(),
            max_tokens,
            ..Self::default()
        }
    }

    /// Tokens that are made at most when nothing else is said.
    pub const MAX_TOKENS: u64 = 1000;

    /// Asks for the answer to what a user says, of at most [`MAX_TOKENS`](Self::MAX_TOKENS).
    #[inline]
    pub fn user(content: impl Into<SamplingContent>) -> Self {
        Self::new([SamplingMessage::user(content)], Self::MAX_TOKENS)
    }

    /// Adds a message to the conversation.
    #[must_use]
    #[inline]
    pub fn message(mut self, message: SamplingMessage) -> Self {
        self.messages.push(message);
        self
    }

    /// Sets how many tokens are made at most.
    #[must_use]
    #[inline]
    pub fn max_tokens(mut self, tokens: u64) -> Self {
        self.max_tokens = tokens;
        self
    }

    /// Says which language model is wanted.
    #[must_use]
    #[inline]
    pub fn model_preferences(mut self, preferences: ModelPreferences) -> Self {
        self.model_preferences = Some(preferences);
        self
    }

    /// Sets what the language model is told before the conversation.
    #[must_use]
    #[inline]
    pub fn system_prompt(mut self, prompt: impl Into<String>) -> Self {
        self.system_prompt = Some(prompt.into());
        self
    }

    /// Says which servers' context to add.
    #[must_use]
    #[inline]
    pub fn include_context(mut self, include: IncludeContext) -> Self {
        self.include_context = Some(include);
        self
    }

    /// Sets how much chance there is in the answer.
    #[must_use]
    #[inline]
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Adds a text at which to stop.
    #[must_use]
    #[inline]
    pub fn stop_sequence(mut self, text: impl Into<String>) -> Self {
        self.stop_sequences.push(text.into());
        self
    }

    /// Adds something for the provider of the language model.
    #[must_use]
    #[inline]
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        let metadata = self.metadata.get_or_insert_default();
        metadata.insert(key.into(), value.into());
        self
    }

    /// Adds a tool that the language model may call.
    #[must_use]
    #[inline]
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Says whether the language model has to call tools.
    #[must_use]
    #[inline]
    pub fn tool_choice(mut self, mode: ToolChoiceMode) -> Self {
        self.tool_choice = Some(ToolChoice { mode: Some(mode) });
        self
    }

    /// Runs the request as an experimental task (2025-11-25 alone).
    #[must_use]
    #[inline]
    pub fn task(mut self, task: TaskMetadata) -> Self {
        self.task = Some(task);
        self
    }

    /// The request needs a client that declares `sampling.tools`.
    // spec: SAMP-03
    #[inline]
    pub fn needs_tools(&self) -> bool {
        !self.tools.is_empty() || self.tool_choice.is_some()
    }

    /// Checks that calls and results of tools belong together.
    ///
    /// # Errors
    ///
    /// [`BrokenConversation`] that names the message.
    // spec: SAMP-08, SAMP-09
    #[inline]
    pub fn check_messages(&self) -> Result<(), BrokenConversation> {
        message::check(&self.messages)
    }
}

text_enum! {
    /// Which servers' context to add to a prompt.
    pub enum IncludeContext {
        /// No server's.
        None = "none",
        /// That of the server which asks.
        ThisServer = "thisServer",
        /// That of all servers.
        AllServers = "allServers",
    }
}

/// Which language model is wanted. The client has the last word.
// spec: SAMP-11
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ModelPreferences {
    /// Language models by name, best first.
    pub hints: Vec<ModelHint>,
    /// How much a low price matters, from 0 to 1.
    pub cost_priority: Option<f64>,
    /// How much speed matters, from 0 to 1.
    pub speed_priority: Option<f64>,
    /// How much ability matters, from 0 to 1.
    pub intelligence_priority: Option<f64>,
}

members!(ModelPreferences as "preferences of a model" {
    "hints" => hints or nothing,
    "costPriority" => cost_priority or nothing,
    "speedPriority" => speed_priority or nothing,
    "intelligencePriority" => intelligence_priority or nothing,
});

impl ModelPreferences {
    /// No preferences yet.
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the name of a language model, or a part of it; best first.
    #[must_use]
    #[inline]
    pub fn hint(mut self, name: impl Into<String>) -> Self {
        self.hints.push(ModelHint::new(name));
        self
    }

    /// Says how much a low price matters, from 0 to 1.
    #[must_use]
    #[inline]
    pub fn cost_priority(mut self, priority: f64) -> Self {
        self.cost_priority = Some(priority);
        self
    }

    /// Says how much speed matters, from 0 to 1.
    #[must_use]
    #[inline]
    pub fn speed_priority(mut self, priority: f64) -> Self {
        self.speed_priority = Some(priority);
        self
    }

    /// Says how much ability matters, from 0 to 1.
    #[must_use]
    #[inline]
    pub fn intelligence_priority(mut self, priority: f64) -> Self {
        self.intelligence_priority = Some(priority);
        self
    }
}

/// A language model by its name, or by a part of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelHint {
    /// The name, or a part of it.
    pub name: Option<String>,
}

members!(ModelHint as "the name of a model" {
    "name" => name or nothing,
});

impl ModelHint {
    /// A name, or a part of it.
    #[inline]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: Some(name.into()),
        }
    }
}

/// Whether a language model has to call tools.
// spec: SAMP-06
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolChoice {
    /// How far it is free; [`ToolChoiceMode::Auto`] when absent.
    pub mode: Option<ToolChoiceMode>,
}

members!(ToolChoice as "how tools are used" {
    "mode" => mode or nothing,
});

text_enum! {
    /// How far a language model is free to call tools.
    pub enum ToolChoiceMode {
        /// It decides by itself.
        Auto = "auto",
        /// It has to call one.
        Required = "required",
        /// It must not call any.
        None = "none",
    }
}

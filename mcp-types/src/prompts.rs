//! Prompts.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/prompts>

use serde::{Deserialize, Serialize};

use crate::content::{ContentBlock, Role};
use crate::setters::{display_name, setters};
use crate::{de, extra::ExtraFields, icon::Icon, meta::Meta, page::list_result, raw::RawObject};

/// The definition of a prompt, as `prompts/list` returns it. Unknown members are kept.
///
/// # Examples
///
/// A prompt of a server:
///
/// ```
/// use mcp::prelude::*;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Review {
///     /// path below the root
///     file: String,
/// }
///
/// let server = Server::new("reviews", "1.0.0").prompt(
///     Prompt::new("review")
///         .description("Reviews a file")
///         .handler(|Args(review): Args<Review>| format!("Review {}.", review.file)),
/// );
/// server.check()?;
/// # Ok::<(), mcp::SetupError>(())
/// ```
// spec: PROMPT-03
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Prompt {
    /// Programmatic name.
    pub name: String,
    /// Display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Description for users.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The prompt's arguments.
    #[serde(
        default,
        deserialize_with = "de::null_to_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub arguments: Vec<PromptArgument>,
    /// Icons for user interfaces.
    #[serde(
        default,
        deserialize_with = "de::null_to_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub icons: Vec<Icon>,
    /// Protocol-level metadata (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members that this crate does not define.
    #[serde(flatten)]
    pub extra: ExtraFields,
}

impl Prompt {
    setters! { title, description, icon, meta }
    display_name!();

    /// Creates a prompt without arguments.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn argument(mut self, argument: PromptArgument) -> Self {
        self.arguments.push(argument);
        self
    }
}

/// A prompt argument. Its value is a string.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PromptArgument {
    /// Programmatic name.
    pub name: String,
    /// Display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Description for users.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// `true` if a value is required. Default: `false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
}

impl PromptArgument {
    setters! { title, description }

    /// Creates an optional argument.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// Makes the argument required.
    #[must_use]
    pub fn required(mut self) -> Self {
        self.required = Some(true);
        self
    }

    /// Returns `true` if the argument is required.
    pub fn is_required(&self) -> bool {
        self.required == Some(true)
    }
}

/// A prompt message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PromptMessage {
    /// The message's speaker.
    pub role: Role,
    /// The message's content.
    pub content: ContentBlock,
}

impl PromptMessage {
    /// Creates a message.
    pub fn new(role: Role, content: impl Into<ContentBlock>) -> Self {
        Self {
            role,
            content: content.into(),
        }
    }
}

list_result! {
    /// Result of `prompts/list`.
    ListPromptsResult {
        /// This page's prompts.
        prompts: Prompt
    }
}

/// Parameters of `prompts/get`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct GetPromptParams {
    /// The prompt's name.
    pub name: String,
    /// Arguments: strings by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<RawObject>,
}

impl GetPromptParams {
    /// Creates the parameters from the name of the prompt and its arguments.
    pub fn new(name: impl Into<String>, arguments: Option<RawObject>) -> Self {
        Self {
            name: name.into(),
            arguments,
        }
    }
}

/// Result of `prompts/get`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct GetPromptResult {
    /// The prompt's description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The prompt's messages.
    pub messages: Vec<PromptMessage>,
    /// Protocol-level metadata (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl GetPromptResult {
    setters! { description, meta }

    /// Creates a result from prompt messages.
    pub fn new(messages: impl IntoIterator<Item = PromptMessage>) -> Self {
        Self {
            messages: messages.into_iter().collect(),
            ..Self::default()
        }
    }
}

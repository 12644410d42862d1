//! Prompts.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/prompts>

use crate::json::members;
use crate::setters::{display_name, setters};
use crate::{ContentBlock, Cursor, Icon, Meta, RawObject, Role, Settings};

/// A prompt as a server lists it. Unknown members survive.
// spec: PROMPT-03
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Prompt {
    /// Name for programs.
    pub name: String,
    /// Name for people.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// What it takes.
    pub arguments: Vec<PromptArgument>,
    /// Pictures for user interfaces.
    pub icons: Vec<Icon>,
    /// What it carries beside.
    pub meta: Option<Meta>,
    /// Members that this library does not know.
    pub other: Settings,
}

members!(Prompt as "a prompt" {
    "name" => name,
    "title" => title or nothing,
    "description" => description or nothing,
    "arguments" => arguments or nothing,
    "icons" => icons or nothing,
    "_meta" => meta or nothing,
} and other);

impl Prompt {
    setters! { title, describe, icon, meta }
    display_name!();

    /// A prompt without arguments.
    #[inline]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// Adds an argument.
    #[must_use]
    #[inline]
    pub fn argument(mut self, argument: PromptArgument) -> Self {
        self.arguments.push(argument);
        self
    }
}

/// An argument of a prompt; its value is always a string.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PromptArgument {
    /// Name for programs.
    pub name: String,
    /// Name for people.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// It has to be given.
    pub required: Option<bool>,
}

members!(PromptArgument as "an argument of a prompt" {
    "name" => name,
    "title" => title or nothing,
    "description" => description or nothing,
    "required" => required or nothing,
});

impl PromptArgument {
    setters! { title, describe }

    /// An argument that may be left out.
    #[inline]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// It has to be given.
    #[must_use]
    #[inline]
    pub fn required(mut self) -> Self {
        self.required = Some(true);
        self
    }

    /// It has to be given.
    #[inline]
    pub fn is_required(&self) -> bool {
        self.required == Some(true)
    }
}

/// A message of a prompt.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PromptMessage {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: ContentBlock,
}

members!(PromptMessage as "a message of a prompt" {
    "role" => role,
    "content" => content,
});

impl PromptMessage {
    /// Somebody says something.
    #[inline]
    pub fn new(role: Role, content: impl Into<ContentBlock>) -> Self {
        Self {
            role,
            content: content.into(),
        }
    }

    /// The user says something.
    #[inline]
    pub fn user(content: impl Into<ContentBlock>) -> Self {
        Self::new(Role::User, content)
    }

    /// The language model says something.
    #[inline]
    pub fn assistant(content: impl Into<ContentBlock>) -> Self {
        Self::new(Role::Assistant, content)
    }
}

/// The result of `prompts/list`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ListPromptsResult {
    /// The prompts of this page.
    pub prompts: Vec<Prompt>,
    /// Where the list goes on; absent on the last page.
    pub next_cursor: Option<Cursor>,
    /// What the result carries beside.
    pub meta: Option<Meta>,
}

members!(ListPromptsResult as "a list of prompts" {
    "prompts" => prompts,
    "nextCursor" => next_cursor or nothing,
    "_meta" => meta or nothing,
});

impl ListPromptsResult {
    /// A page; the last one unless `next_cursor` is set.
    #[inline]
    pub fn new(prompts: Vec<Prompt>) -> Self {
        Self {
            prompts,
            ..Self::default()
        }
    }
}

/// Parameters of `prompts/get`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct GetPromptParams {
    /// Which prompt.
    pub name: String,
    /// Its arguments: strings by name.
    pub arguments: Option<RawObject>,
}

members!(GetPromptParams as "which prompt" {
    "name" => name,
    "arguments" => arguments or nothing,
});

impl GetPromptParams {
    /// Gets a prompt.
    #[inline]
    pub fn new(name: impl Into<String>, arguments: Option<RawObject>) -> Self {
        Self {
            name: name.into(),
            arguments,
        }
    }
}

/// The result of `prompts/get`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct GetPromptResult {
    /// What the prompt is for.
    pub description: Option<String>,
    /// The conversation that it makes.
    pub messages: Vec<PromptMessage>,
    /// What the result carries beside.
    pub meta: Option<Meta>,
}

members!(GetPromptResult as "the messages of a prompt" {
    "description" => description or nothing,
    "messages" => messages,
    "_meta" => meta or nothing,
});

impl GetPromptResult {
    setters! { describe, meta }

    /// The conversation that a prompt makes.
    #[inline]
    pub fn new(messages: impl IntoIterator<Item = PromptMessage>) -> Self {
        Self {
            messages: messages.into_iter().collect(),
            ..Self::default()
        }
    }
}

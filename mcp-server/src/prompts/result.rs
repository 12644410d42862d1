//! What a prompt may return.

use std::borrow::Cow;

use mcp_types::{ContentBlock, GetPromptResult, PromptMessage};

use crate::failure::PromptError;

/// A value that becomes the conversation of a prompt.
///
/// | type | conversation |
/// |---|---|
/// | `String`, `&str`, `Cow<'_, str>`, [`ContentBlock`] | one message of the user |
/// | [`PromptMessage`], arrays and `Vec`s of them | those messages; see [`user`] and [`assistant`] |
/// | [`GetPromptResult`] | itself |
/// | `Result<T, E>` with `E: Into<PromptError>` | the value, or the failure |
#[diagnostic::on_unimplemented(
    message = "a prompt cannot return `{Self}`",
    label = "this does not become a conversation",
    note = "return a `String`, a `PromptMessage` (`user(…)`, `assistant(…)`), an array or a `Vec` of them, or `GetPromptResult`",
    note = "a `Result` needs an error that `?` turns into `PromptError`: any `std::error::Error`, `anyhow::Error`, `String` or `&str`"
)]
pub trait IntoPrompt {
    /// Becomes the conversation.
    ///
    /// # Errors
    ///
    /// Why the prompt was not made.
    fn into_prompt(self) -> Result<GetPromptResult, PromptError>;
}

/// The user says something, in a prompt.
///
/// # Examples
///
/// ```
/// use mcp_server::{assistant, user};
/// use mcp_types::PromptMessage;
///
/// fn introduction(name: &str) -> [PromptMessage; 2] {
///     [user(format!("I am {name}.")), assistant("What can I do for you?")]
/// }
/// ```
pub fn user(content: impl Into<ContentBlock>) -> PromptMessage {
    PromptMessage::user(content)
}

/// The language model says something, in a prompt; see [`user`].
pub fn assistant(content: impl Into<ContentBlock>) -> PromptMessage {
    PromptMessage::assistant(content)
}

impl IntoPrompt for GetPromptResult {
    #[inline]
    fn into_prompt(self) -> Result<GetPromptResult, PromptError> {
        Ok(self)
    }
}

impl IntoPrompt for PromptMessage {
    #[inline]
    fn into_prompt(self) -> Result<GetPromptResult, PromptError> {
        Ok(GetPromptResult::new([self]))
    }
}

impl IntoPrompt for Vec<PromptMessage> {
    #[inline]
    fn into_prompt(self) -> Result<GetPromptResult, PromptError> {
        Ok(GetPromptResult::new(self))
    }
}

impl<const N: usize> IntoPrompt for [PromptMessage; N] {
    fn into_prompt(self) -> Result<GetPromptResult, PromptError> {
        Ok(GetPromptResult::new(self))
    }
}

impl<T: IntoPrompt, E: Into<PromptError>> IntoPrompt for Result<T, E> {
    fn into_prompt(self) -> Result<GetPromptResult, PromptError> {
        self.map_err(Into::into)?.into_prompt()
    }
}

impl IntoPrompt for ContentBlock {
    #[inline]
    fn into_prompt(self) -> Result<GetPromptResult, PromptError> {
        user(self).into_prompt()
    }
}

macro_rules! texts {
    ($($text:ty),*) => {
        $(impl IntoPrompt for $text {
            fn into_prompt(self) -> Result<GetPromptResult, PromptError> {
                ContentBlock::text(self).into_prompt()
            }
        })*
    };
}

texts!(String, &str, Box<str>, Cow<'_, str>);

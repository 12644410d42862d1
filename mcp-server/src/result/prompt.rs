//! Return values of prompts.

use std::borrow::Cow;

use mcp_core::{ResultBody, wire};
use mcp_types::{ContentBlock, GetPromptResult, Method, PromptMessage, Role};

use super::error::{PromptError, check_method, foreign_result};

/// A return value of a prompt.
///
/// | type | messages |
/// |---|---|
/// | `String`, `&str`, `Cow<'_, str>`, [`ContentBlock`] | one message of the user |
/// | [`PromptMessage`], arrays and `Vec`s of them | these messages; see [`user`] and [`assistant`] |
/// | [`GetPromptResult`] | itself |
/// | [`ResultBody`] of `prompts/get` | itself, without decoding it |
/// | `Result<T, E>` with `E: Into<PromptError>` | the value, or the error |
#[diagnostic::on_unimplemented(
    message = "a prompt cannot return `{Self}`",
    label = "this does not become a conversation",
    note = "return a `String`, a `PromptMessage` (`user(…)`, `assistant(…)`), an array or a `Vec` of them, or `GetPromptResult`",
    note = "a `Result` needs an error that `?` turns into `PromptError`: any `std::error::Error`, `anyhow::Error`, `String` or `&str`; an error must be `Send + Sync`: write `Result<_, PromptError>` in place of `Result<_, Box<dyn Error>>`"
)]
pub trait IntoPrompt {
    /// Converts the value into messages.
    ///
    /// # Errors
    ///
    /// Returns the [`PromptError`] of a prompt that failed.
    fn into_prompt(self) -> Result<GetPromptResult, PromptError>;

    /// Converts the value into the body of the reply. Only [`ResultBody`] has another one than its result.
    ///
    /// # Errors
    ///
    /// Returns the [`PromptError`] of a prompt that failed.
    fn into_body(self) -> Result<ResultBody, PromptError>
    where
        Self: Sized,
    {
        self.into_prompt().map(ResultBody::from)
    }
}

/// Creates a user message.
///
/// # Examples
///
/// ```
/// use mcp::prelude::*;
///
/// fn introduction(name: &str) -> [PromptMessage; 2] {
///     [user(format!("I am {name}.")), assistant("What can I do for you?")]
/// }
/// ```
pub fn user(content: impl Into<ContentBlock>) -> PromptMessage {
    PromptMessage::new(Role::User, content)
}

/// Creates a message of the language model; see [`user`].
pub fn assistant(content: impl Into<ContentBlock>) -> PromptMessage {
    PromptMessage::new(Role::Assistant, content)
}

/// Passes the result of another server on.
impl IntoPrompt for ResultBody {
    fn into_prompt(self) -> Result<GetPromptResult, PromptError> {
        match wire::decoded(self) {
            Ok(Self::GetPrompt(result)) => Ok(result),
            _ => Err(PromptError::fault(foreign_result(Method::GetPrompt))),
        }
    }

    fn into_body(self) -> Result<ResultBody, PromptError> {
        check_method(self, Method::GetPrompt).map_err(PromptError::fault)
    }
}

impl IntoPrompt for GetPromptResult {
    fn into_prompt(self) -> Result<GetPromptResult, PromptError> {
        Ok(self)
    }
}

impl IntoPrompt for PromptMessage {
    fn into_prompt(self) -> Result<GetPromptResult, PromptError> {
        Ok(GetPromptResult::new([self]))
    }
}

impl IntoPrompt for Vec<PromptMessage> {
    fn into_prompt(self) -> Result<GetPromptResult, PromptError> {
        Ok(GetPromptResult::new(self))
    }
}

impl<const N: usize> IntoPrompt for [PromptMessage; N] {
    fn into_prompt(self) -> Result<GetPromptResult, PromptError> {
        Ok(GetPromptResult::new(self))
    }
}

#[diagnostic::do_not_recommend]
impl<T: IntoPrompt, E: Into<PromptError>> IntoPrompt for Result<T, E> {
    fn into_prompt(self) -> Result<GetPromptResult, PromptError> {
        self.map_err(Into::into)?.into_prompt()
    }

    fn into_body(self) -> Result<ResultBody, PromptError> {
        self.map_err(Into::into)?.into_body()
    }
}

impl IntoPrompt for ContentBlock {
    fn into_prompt(self) -> Result<GetPromptResult, PromptError> {
        user(self).into_prompt()
    }
}

macro_rules! strings {
    ($($string:ty),*) => {
        $(impl IntoPrompt for $string {
            fn into_prompt(self) -> Result<GetPromptResult, PromptError> {
                ContentBlock::text(self).into_prompt()
            }
        })*
    };
}

strings!(String, &str, Box<str>, Cow<'_, str>);

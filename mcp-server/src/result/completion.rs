//! Return values of completions.

use mcp_types::{CompleteResult, Completion};

use super::error::CompletionError;

/// A return value of a completion: suggestions, best first. The client receives at most 100 of them
/// and their total number.
///
/// | type | suggestions |
/// |---|---|
/// | `Vec<String>`, `Vec<&str>`, arrays | the elements |
/// | [`Completion`], [`CompleteResult`] | itself |
/// | `Result<T, E>` with `E: Into<CompletionError>` | the value, or the error |
#[diagnostic::on_unimplemented(
    message = "a completion cannot return `{Self}`",
    label = "this does not become suggestions",
    note = "return a `Vec<String>`, a `Vec<&str>`, an array of these, `Completion` or `CompleteResult`",
    note = "a `Result` needs an error that `?` turns into `CompletionError`: any `std::error::Error`, `anyhow::Error`, `String` or `&str`; an error must be `Send + Sync`: write `Result<_, CompletionError>` in place of `Result<_, Box<dyn Error>>`"
)]
pub trait IntoCompletion {
    /// Converts the value into suggestions.
    ///
    /// # Errors
    ///
    /// Returns the [`CompletionError`] of a completion that failed.
    fn into_completion(self) -> Result<CompleteResult, CompletionError>;
}

impl IntoCompletion for CompleteResult {
    // spec: COMP-03
    fn into_completion(mut self) -> Result<CompleteResult, CompletionError> {
        let completion = &mut self.completion;
        if completion.values.len() > Completion::MAX_VALUES {
            let total = u64::try_from(completion.values.len()).unwrap_or(u64::MAX);
            completion.values.truncate(Completion::MAX_VALUES);
            completion.total = completion.total.or(Some(total));
            completion.has_more = Some(true);
        }
        Ok(self)
    }
}

impl IntoCompletion for Completion {
    fn into_completion(self) -> Result<CompleteResult, CompletionError> {
        CompleteResult::from(self).into_completion()
    }
}

impl<T: Into<String>> IntoCompletion for Vec<T> {
    fn into_completion(self) -> Result<CompleteResult, CompletionError> {
        Completion::new(self).into_completion()
    }
}

impl<T: Into<String>, const N: usize> IntoCompletion for [T; N] {
    fn into_completion(self) -> Result<CompleteResult, CompletionError> {
        Completion::new(self).into_completion()
    }
}

#[diagnostic::do_not_recommend]
impl<T: IntoCompletion, E: Into<CompletionError>> IntoCompletion for Result<T, E> {
    fn into_completion(self) -> Result<CompleteResult, CompletionError> {
        self.map_err(Into::into)?.into_completion()
    }
}

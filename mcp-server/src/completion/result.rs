//! What a completion may return.

use mcp_types::{CompleteResult, Completion};

use crate::failure::CompletionError;

/// A value that becomes suggestions, best first. Of more than 100 the first ones are sent, with the
/// number of all.
///
/// | type | suggestions |
/// |---|---|
/// | `Vec<String>`, `Vec<&str>`, arrays | those |
/// | [`Completion`], [`CompleteResult`] | itself |
/// | `Result<T, E>` with `E: Into<CompletionError>` | the value, or the failure |
#[diagnostic::on_unimplemented(
    message = "a completion cannot return `{Self}`",
    label = "this does not become suggestions",
    note = "return a `Vec<String>`, a `Vec<&str>`, an array of these, `Completion` or `CompleteResult`",
    note = "a `Result` needs an error that `?` turns into `CompletionError`: any `std::error::Error`, `anyhow::Error`, `String` or `&str`"
)]
pub trait IntoCompletion {
    /// Becomes the suggestions.
    ///
    /// # Errors
    ///
    /// Why there are none.
    fn into_completion(self) -> Result<CompleteResult, CompletionError>;
}

impl IntoCompletion for CompleteResult {
    // spec: COMP-03
    #[inline]
    fn into_completion(mut self) -> Result<CompleteResult, CompletionError> {
        let found = &mut self.completion;
        if found.values.len() > Completion::MAX_VALUES {
            let all = u64::try_from(found.values.len()).unwrap_or(u64::MAX);
            found.values.truncate(Completion::MAX_VALUES);
            found.total = found.total.or(Some(all));
            found.has_more = Some(true);
        }
        Ok(self)
    }
}

impl IntoCompletion for Completion {
    #[inline]
    fn into_completion(self) -> Result<CompleteResult, CompletionError> {
        CompleteResult::new(self).into_completion()
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

impl<T: IntoCompletion, E: Into<CompletionError>> IntoCompletion for Result<T, E> {
    fn into_completion(self) -> Result<CompleteResult, CompletionError> {
        self.map_err(Into::into)?.into_completion()
    }
}

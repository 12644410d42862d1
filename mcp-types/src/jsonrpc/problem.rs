//! The first problem found in a message.

use std::borrow::Cow;

/// The first problem found in a message that is valid JSON.
///
/// Reading goes on after a problem, because the error response needs the message's id.
#[derive(Debug, Default)]
pub(super) struct Problem(pub(super) Option<Cow<'static, str>>);

impl Problem {
    #[cold]
    pub(super) fn note(&mut self, problem: impl Into<Cow<'static, str>>) {
        self.0.get_or_insert_with(|| problem.into());
    }
}

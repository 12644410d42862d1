//! User answers.

/// The user's reaction to a form or a URL.
///
/// # Examples
///
/// ```
/// use mcp::Answer;
///
/// fn reply(answer: Answer<u32>) -> String {
///     match answer {
///         Answer::Accept(guests) => format!("a table for {guests}"),
///         Answer::Decline => "no table, then".to_owned(),
///         Answer::Cancel => "ask me again".to_owned(),
///     }
/// }
/// # assert_eq!(reply(Answer::Accept(2)), "a table for 2");
/// ```
// spec: ELIC-09
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "the three actions of the specification; users match on them"
)]
pub enum Answer<T> {
    /// The user agreed. For a URL this says that the user visits it, not that the interaction there
    /// succeeded.
    Accept(T),
    /// The user refused.
    Decline,
    /// The user dismissed the question.
    Cancel,
}

impl<T> Answer<T> {
    /// Returns the accepted value.
    pub fn accepted(self) -> Option<T> {
        match self {
            Self::Accept(value) => Some(value),
            Self::Decline | Self::Cancel => None,
        }
    }

    /// Returns whether the user agreed.
    pub fn is_accepted(&self) -> bool {
        matches!(self, Self::Accept(_))
    }

    /// Converts the accepted value by a function that can fail.
    pub(super) fn try_map<U, E>(
        self,
        change: impl FnOnce(T) -> Result<U, E>,
    ) -> Result<Answer<U>, E> {
        Ok(match self {
            Self::Accept(value) => Answer::Accept(change(value)?),
            Self::Decline => Answer::Decline,
            Self::Cancel => Answer::Cancel,
        })
    }
}

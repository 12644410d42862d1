//! What a user answers.

/// What the user did with a question.
///
/// # Examples
///
/// ```
/// use mcp_server::Answer;
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
// spec: ELIC-09, ELIC-18
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "the three answers of the specification, to be matched"
)]
pub enum Answer<T> {
    /// The user agreed. To a URL this says that it is visited, not that all was done there.
    Accept(T),
    /// The user said no.
    Decline,
    /// The user went away without an answer.
    Cancel,
}

impl<T> Answer<T> {
    /// What the user agreed to.
    pub fn accepted(self) -> Option<T> {
        match self {
            Self::Accept(value) => Some(value),
            Self::Decline | Self::Cancel => None,
        }
    }

    /// The user agreed.
    pub fn is_accepted(&self) -> bool {
        matches!(self, Self::Accept(_))
    }

    /// Changes what the user agreed to.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Answer<U> {
        match self {
            Self::Accept(value) => Answer::Accept(change(value)),
            Self::Decline => Answer::Decline,
            Self::Cancel => Answer::Cancel,
        }
    }
}

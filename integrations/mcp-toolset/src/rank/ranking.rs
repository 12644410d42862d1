//! [`Ranking`].

/// The tools that serve a task: the result of a [`Ranker`](super::Ranker).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "rankers construct it")]
pub struct Ranking {
    /// The indices of the tools, the best first.
    pub tools: Vec<usize>,
    /// True if it is doubtful that one of the tools serves the task. The model reads that, too.
    pub is_weak: bool,
}

impl From<Vec<usize>> for Ranking {
    /// A ranking of tools that serve the task.
    fn from(tools: Vec<usize>) -> Self {
        Self {
            tools,
            is_weak: false,
        }
    }
}

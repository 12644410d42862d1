//! [`Diff`], [`Difference`] and [`Impact`].

use std::fmt;

use serde::Serialize;

/// The effect of a difference on clients of the older snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Impact {
    /// Only texts, icons and other annotations differ.
    Cosmetic,
    /// Clients continue to work.
    Compatible,
    /// A client may fail, or may read results wrongly.
    Breaking,
}

impl Impact {
    /// Returns the name in lower case.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cosmetic => "cosmetic",
            Self::Compatible => "compatible",
            Self::Breaking => "breaking",
        }
    }
}

/// One difference between two snapshots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Difference {
    /// The effect on clients.
    pub impact: Impact,
    /// The difference's JSON pointer. List items are named by name or URI instead of by index:
    /// `/tools/add/inputSchema/properties/a`.
    pub path: String,
    /// The difference and, for a breaking one, its effect on clients.
    pub reason: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            impact,
            path,
            reason,
        } = self;
        write!(f, "{}: {path}: {reason}", impact.as_str())
    }
}

/// The differences between two snapshots. Created by [`Snapshot::diff`](super::Snapshot::diff).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Diff(pub(crate) Vec<Difference>);

impl Diff {
    /// Returns the differences, the breaking ones first, and then by path.
    pub fn differences(&self) -> &[Difference] {
        &self.0
    }

    /// Returns the greatest effect of the differences. `None` when the snapshots do not differ.
    pub fn impact(&self) -> Option<Impact> {
        self.0.first().map(|difference| difference.impact)
    }
}

/// One difference per line.
impl fmt::Display for Diff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for difference in &self.0 {
            writeln!(f, "{difference}")?;
        }
        Ok(())
    }
}

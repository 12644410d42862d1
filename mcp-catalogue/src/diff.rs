//! [`Diff`]: the differences between two snapshots.
//!
//! | module | contents, lowest first |
//! |---|---|
//! | `recorder` | the list of differences, and JSON pointers |
//! | `schema` | differences of two JSON Schemas, by direction |
//! | `items` | differences of tools, prompts, resources, templates and capabilities |

mod items;
mod recorder;
mod schema;

use std::fmt;

use serde::Serialize;

use crate::snapshot::Snapshot;

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
    /// The JSON pointer of the difference. Items of lists are named by name or URI instead of by index:
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

/// The differences between two snapshots. Created by [`Snapshot::diff`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Diff(Vec<Difference>);

impl Diff {
    /// Returns the differences, the breaking ones first, and then by path.
    pub fn differences(&self) -> &[Difference] {
        &self.0
    }

    /// Returns the greatest effect of a difference. `None` when the snapshots do not differ.
    pub fn impact(&self) -> Option<Impact> {
        self.0.first().map(|difference| difference.impact)
    }

    /// Returns true if a difference is breaking.
    pub fn is_breaking(&self) -> bool {
        self.impact() == Some(Impact::Breaking)
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

impl Snapshot {
    /// Compares this snapshot, the older one, with a newer one. Descriptions of the differences name the
    /// effect on clients that know the older one.
    ///
    /// A difference that cannot be decided, such as a changed pattern, is breaking. At most 1,000
    /// differences are listed; a last one says that there are more.
    pub fn diff(&self, new: &Self) -> Diff {
        let mut recorder = recorder::Recorder::default();
        items::compare(self, new, &mut recorder);
        let mut differences = recorder.finish();
        differences.sort_by(|a, b| {
            let by_impact = b.impact.cmp(&a.impact);
            by_impact.then_with(|| a.path.cmp(&b.path))
        });
        Diff(differences)
    }
}

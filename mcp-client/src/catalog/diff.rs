//! [`Snapshot::diff`].
//!
//! | module | contents, lowest first |
//! |---|---|
//! | `recorder` | the list of differences, and JSON pointers |
//! | `schema` | differences of two JSON Schemas, by direction |
//! | `items` | differences of tools, prompts, resources, templates and capabilities |

mod items;
mod recorder;
mod schema;

use crate::catalog::difference::Diff;
use crate::catalog::snapshot::Snapshot;

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

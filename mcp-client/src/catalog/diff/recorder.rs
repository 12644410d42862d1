//! The list of differences, and JSON pointers.

use std::collections::BTreeMap;

use mcp_types::shorten;

use crate::catalog::difference::{Difference, Impact};

/// Largest number of listed differences.
const MAX_DIFFERENCES: usize = 1_000;

/// Collects differences.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    differences: Vec<Difference>,
    /// The greatest impact of the differences that are not listed.
    omitted: Option<Impact>,
}

impl Recorder {
    pub(super) fn add(&mut self, impact: Impact, path: &str, reason: impl Into<String>) {
        if self.differences.len() >= MAX_DIFFERENCES {
            self.omitted = self.omitted.max(Some(impact));
            return;
        }
        self.differences.push(Difference {
            impact,
            path: path.to_owned(),
            reason: reason.into(),
        });
    }

    pub(super) fn finish(mut self) -> Vec<Difference> {
        if let Some(impact) = self.omitted {
            self.differences.push(Difference {
                impact,
                path: String::new(),
                reason: format!("more than {MAX_DIFFERENCES} differences; the others are omitted"),
            });
        }
        self.differences
    }
}

/// Appends a key to a JSON pointer (RFC 6901).
pub(super) fn join(path: &str, key: &str) -> String {
    format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// A member of an older and of a newer object: its name, its path, and its two values.
pub(super) type Pair<'a, T> = (&'a str, String, Option<T>, Option<T>);

/// Returns the members of two objects at `path`, by name.
pub(super) fn pairs<'a, K, T>(
    old: impl IntoIterator<Item = (&'a K, T)>,
    new: impl IntoIterator<Item = (&'a K, T)>,
    path: &str,
) -> impl Iterator<Item = Pair<'a, T>>
where
    K: AsRef<str> + ?Sized + 'a,
{
    let mut all = BTreeMap::<&str, (Option<T>, Option<T>)>::new();
    for (name, value) in old {
        all.entry(name.as_ref()).or_default().0 = Some(value);
    }
    for (name, value) in new {
        all.entry(name.as_ref()).or_default().1 = Some(value);
    }
    let all = all.into_iter();
    all.map(move |(name, (old, new))| (name, join(path, name), old, new))
}

/// Shortens a JSON value for a message.
pub(super) fn brief(value: &serde_json::Value) -> String {
    shorten(&value.to_string(), 60).into_owned()
}

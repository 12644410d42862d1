//! The names that metrics may contain. Each name is a time series, so a peer must not invent them.

use std::collections::HashSet;
use std::sync::Arc;

use foldhash::fast::RandomState;
use parking_lot::RwLock;

/// The kind of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameKind {
    Method,
    Tool,
    Prompt,
}

/// The names that a server has confirmed: it has listed them, or a call of them was successful.
#[derive(Debug, Default)]
pub(crate) struct KnownNames {
    /// Indexed by [`NameKind`].
    by_kind: [RwLock<HashSet<Arc<str>, RandomState>>; 3],
}

impl KnownNames {
    /// Most known names of each kind. Further ones are left out of metrics.
    pub(crate) const MAX_NAMES: usize = 1000;
    /// Longer names are left out of metrics.
    const MAX_BYTES: usize = 256;

    /// Returns the name if it is known.
    pub(crate) fn get(&self, kind: NameKind, name: &str) -> Option<Arc<str>> {
        self.by_kind[kind as usize].read().get(name).cloned()
    }

    /// Adds a name. Returns whether it is known now.
    pub(crate) fn add(&self, kind: NameKind, name: &str) -> bool {
        if self.get(kind, name).is_some() {
            return true;
        }
        let mut names = self.by_kind[kind as usize].write();
        if names.len() >= Self::MAX_NAMES || name.len() > Self::MAX_BYTES {
            return false;
        }
        names.insert(name.into());
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{KnownNames, NameKind};

    #[test]
    fn further_and_long_names_are_not_known() {
        let names = KnownNames::default();
        let get = |kind| names.get(kind, "add").as_deref().map(str::to_owned);
        assert_eq!(get(NameKind::Tool), None);
        assert!(names.add(NameKind::Tool, "add"));
        assert_eq!(get(NameKind::Tool).as_deref(), Some("add"));
        assert_eq!(get(NameKind::Prompt), None);
        assert!(!names.add(NameKind::Tool, &"x".repeat(257)));
        for n in 1..KnownNames::MAX_NAMES {
            assert!(names.add(NameKind::Tool, &n.to_string()));
        }
        assert!(!names.add(NameKind::Tool, "one too many"));
        assert!(names.add(NameKind::Tool, "add"));
    }
}

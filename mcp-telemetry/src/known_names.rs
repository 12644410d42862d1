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
    sets: [RwLock<HashSet<Arc<str>, RandomState>>; 3],
}

impl KnownNames {
    /// Most known names of each kind. Further ones are left out of metrics.
    pub(crate) const MAX_NAMES: usize = 1000;
    /// Longer names are left out of metrics.
    const MAX_BYTES: usize = 256;

    fn set(&self, kind: NameKind) -> &RwLock<HashSet<Arc<str>, RandomState>> {
        let [methods, tools, prompts] = &self.sets;
        match kind {
            NameKind::Method => methods,
            NameKind::Tool => tools,
            NameKind::Prompt => prompts,
        }
    }

    /// Returns the name if it is known.
    pub(crate) fn get(&self, kind: NameKind, name: &str) -> Option<Arc<str>> {
        self.set(kind).read().get(name).cloned()
    }

    /// Adds a name. Returns it if it is known now.
    pub(crate) fn add(&self, kind: NameKind, name: &str) -> Option<Arc<str>> {
        if let Some(known) = self.get(kind, name) {
            return Some(known);
        }
        let mut set = self.set(kind).write();
        if set.len() >= Self::MAX_NAMES || name.len() > Self::MAX_BYTES {
            return None;
        }
        let known: Arc<str> = name.into();
        set.insert(known.clone());
        Some(known)
    }
}

#[cfg(test)]
mod tests {
    use super::{KnownNames, NameKind};

    #[test]
    fn further_and_long_names_are_not_known() {
        let names = KnownNames::default();
        assert!(names.get(NameKind::Tool, "add").is_none());
        assert_eq!(names.add(NameKind::Tool, "add").unwrap().as_ref(), "add");
        assert_eq!(names.get(NameKind::Tool, "add").unwrap().as_ref(), "add");
        assert!(names.get(NameKind::Prompt, "add").is_none());
        assert!(names.add(NameKind::Tool, &"x".repeat(257)).is_none());
        for n in 1..KnownNames::MAX_NAMES {
            assert!(names.add(NameKind::Tool, &n.to_string()).is_some());
        }
        assert!(names.add(NameKind::Tool, "one too many").is_none());
        assert_eq!(names.add(NameKind::Tool, "add").unwrap().as_ref(), "add");
    }
}

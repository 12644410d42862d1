//! [`Place`]: where a schema is, and the name of its type.

use crate::names::type_name;

/// Longest name of a type before the names of members are no longer added.
const MAX_NAME: usize = 96;

#[derive(Debug, Clone)]
pub(super) struct Place {
    /// The name of the type, if it needs one.
    pub(super) name: String,
    /// The JSON pointer in the tool.
    pub(super) path: String,
    pub(super) depth: usize,
    /// The reserved slot of the type.
    pub(super) slot: Option<usize>,
}

impl Place {
    pub(super) fn root(name: &str, path: &str) -> Self {
        Self {
            name: name.to_owned(),
            path: path.to_owned(),
            depth: 0,
            slot: None,
        }
    }

    /// Returns the place of a part: `suffix` continues the name, and `path` the pointer.
    pub(super) fn child(&self, suffix: &str, path: &str) -> Self {
        let name = match self.name.len() > MAX_NAME {
            true => self.name.clone(),
            false => format!("{}{}", self.name, type_name(suffix, "Item")),
        };
        Self {
            name,
            path: format!("{}/{path}", self.path),
            depth: self.depth + 1,
            slot: None,
        }
    }

    /// Returns the place of a part of the same type, such as the type in an option. The reserved slot is not
    /// for it.
    pub(super) fn inner(&self) -> Self {
        Self {
            depth: self.depth + 1,
            slot: None,
            ..self.clone()
        }
    }

    /// Returns the place for another schema of the same type.
    pub(super) fn rewritten(self) -> Self {
        Self {
            depth: self.depth + 1,
            ..self
        }
    }

    pub(super) fn named(self, name: String) -> Self {
        Self { name, ..self }
    }
}

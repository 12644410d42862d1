//! [`Place`]: where a schema is, and its type's name.

use mcp_schema::limits;
use mcp_types::shorten;

use crate::names::type_name;

/// Longest type name to which member names are added.
const MAX_NAME: usize = 96;

#[derive(Debug, Clone)]
pub(super) struct Place {
    /// The type's name, if it needs one.
    pub(super) name: String,
    /// The name without the tool, see [`Definition::label`](crate::types::Definition).
    pub(super) label: Option<String>,
    /// The JSON pointer in the tool, cut to [`limits::LOCATION`] characters.
    pub(super) path: String,
    pub(super) depth: usize,
    /// The type's reserved slot.
    pub(super) slot: Option<usize>,
}

impl Place {
    /// Returns the place of a part: `suffix` continues the name, and `path` the pointer.
    pub(super) fn child(&self, suffix: &str, path: &str) -> Self {
        let name = if self.name.len() > MAX_NAME {
            self.name.clone()
        } else {
            format!("{}{}", self.name, type_name(suffix, "Item"))
        };
        let label = self.label.as_ref();
        Self {
            name,
            label: label.map(|label| format!("{label}{}", type_name(suffix, "Item"))),
            path: shorten(&format!("{}/{path}", self.path), limits::LOCATION).into(),
            depth: self.depth + 1,
            slot: None,
        }
    }

    /// Returns the inner type's place, such as the type in an option. The reserved slot is not
    /// for it.
    pub(super) fn inner(&self) -> Self {
        Self {
            depth: self.depth + 1,
            slot: None,
            ..self.clone()
        }
    }

    /// Returns the place for another schema of the same type.
    pub(super) fn rewritten(&self) -> Self {
        Self {
            slot: self.slot,
            ..self.inner()
        }
    }

    /// Returns the place of an object member.
    pub(super) fn member(&self, key: &str) -> Self {
        let step = key.replace('~', "~0").replace('/', "~1");
        Self {
            label: Some(type_name(key, "Item")),
            ..self.child(key, &format!("properties/{step}"))
        }
    }

    /// Returns the place of a definition with a name of its own.
    pub(super) fn named(self, name: String) -> Self {
        Self {
            label: Some(name.clone()),
            name,
            ..self
        }
    }
}

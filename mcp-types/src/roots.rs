//! Roots: where a client's user works.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/client/roots>

use crate::Meta;
use crate::json::members;
use crate::setters::setters;

/// A folder or file that a server may look at.
// spec: ROOT-03
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Root {
    /// Where it is: a `file://` URI.
    pub uri: String,
    /// Name for people.
    pub name: Option<String>,
    /// What it carries beside.
    pub meta: Option<Meta>,
}

members!(Root as "a root" {
    "uri" => uri,
    "name" => name or nothing,
    "_meta" => meta or nothing,
});

impl Root {
    setters! { meta }

    /// A folder or file at a `file://` URI.
    #[inline]
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            ..Self::default()
        }
    }

    /// Sets the name for people.
    #[must_use]
    #[inline]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The URI is one that a root may have.
    #[inline]
    pub fn is_file(&self) -> bool {
        self.uri
            .get(..7)
            .is_some_and(|scheme| scheme.eq_ignore_ascii_case("file://"))
    }
}

impl From<&str> for Root {
    #[inline]
    fn from(uri: &str) -> Self {
        Self::new(uri)
    }
}

impl From<String> for Root {
    #[inline]
    fn from(uri: String) -> Self {
        Self::new(uri)
    }
}

/// The result of `roots/list`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ListRootsResult {
    /// The roots.
    pub roots: Vec<Root>,
    /// What the result carries beside (legacy era alone).
    pub meta: Option<Meta>,
}

members!(ListRootsResult as "a list of roots" {
    "roots" => roots,
    "_meta" => meta or nothing,
});

impl ListRootsResult {
    /// All roots there are.
    #[inline]
    pub fn new(roots: impl IntoIterator<Item = Root>) -> Self {
        Self {
            roots: roots.into_iter().collect(),
            meta: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Root;

    #[test]
    fn roots_are_files() {
        for (uri, is_file) in [
            ("file:///home", true),
            ("FILE:///home", true),
            ("https://example.com", false),
            ("file:", false),
            ("fileé//x", false),
        ] {
            assert_eq!(Root::new(uri).is_file(), is_file, "{uri}");
        }
    }
}

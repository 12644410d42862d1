//! Roots: folders and files of the client that a server may access.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/client/roots>

use serde::{Deserialize, Serialize};

use crate::meta::Meta;

/// A folder or file that a server may access. `From` makes it from a `file://` URI.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Root {
    /// URI of the folder or file: `file://`.
    pub uri: String,
    /// Display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Protocol-level metadata (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl Root {
    /// Sets the display name.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Returns `true` if the URI has the scheme `file://`, which the specification requires.
    // spec: ROOT-03
    pub fn is_file(&self) -> bool {
        self.uri
            .get(..7)
            .is_some_and(|scheme| scheme.eq_ignore_ascii_case("file://"))
    }
}

impl From<&str> for Root {
    fn from(uri: &str) -> Self {
        uri.to_owned().into()
    }
}

impl From<String> for Root {
    fn from(uri: String) -> Self {
        Self {
            uri,
            ..Self::default()
        }
    }
}

/// Result of `roots/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ListRootsResult {
    /// The client's roots.
    pub roots: Vec<Root>,
    /// Protocol-level metadata (`_meta`), only in legacy revisions.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl From<Vec<Root>> for ListRootsResult {
    fn from(roots: Vec<Root>) -> Self {
        Self { roots, meta: None }
    }
}

#[cfg(test)]
mod tests {
    use super::Root;

    // spec: ROOT-03
    #[test]
    fn is_file_is_true_for_file_uri() {
        for (uri, is_file) in [
            ("file:///home", true),
            ("FILE:///home", true),
            ("https://example.com", false),
            ("file:", false),
            ("fileé//x", false),
        ] {
            assert_eq!(Root::from(uri).is_file(), is_file, "{uri}");
        }
    }
}

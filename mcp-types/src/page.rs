//! Pages of lists.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination>

use serde::{Deserialize, Serialize};

/// Where a list goes on. Opaque: never parse, change or judge it.
// spec: PAG-03
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cursor(Box<str>);

impl Cursor {
    /// Wraps the text of a cursor.
    pub fn new(text: impl Into<Box<str>>) -> Self {
        Self(text.into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Parameters of a list request: the page that is wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Page {
    /// Where to go on; absent for the first page.
    // spec: PAG-01
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<Cursor>,
}

impl Page {
    /// The first page.
    pub fn first() -> Self {
        Self::default()
    }

    /// The page at a cursor.
    pub fn at(cursor: Cursor) -> Self {
        Self {
            cursor: Some(cursor),
        }
    }
}

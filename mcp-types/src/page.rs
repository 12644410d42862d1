//! Pages of lists.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination>

use crate::json::members;
use crate::text::as_text;

/// Where a list goes on. Opaque: never parse, change or judge it.
// spec: PAG-03
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Cursor(Box<str>);

as_text!(Cursor, Self::new(""), Self::as_str, |text| {
    Ok(Self(text.into()))
});

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
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Page {
    /// Where to go on; absent for the first page.
    // spec: PAG-01
    pub cursor: Option<Cursor>,
}

members!(Page as "a place in a list" {
    "cursor" => cursor or nothing,
});

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

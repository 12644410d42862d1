//! List pagination.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination>

use serde::{Deserialize, Serialize};

/// Position in a list, returned with a page and sent to request the next one.
///
/// Clients treat a cursor as opaque: they do not parse or change it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Cursor(Box<str>);

impl Cursor {
    /// Creates a cursor from a string.
    pub fn new(text: impl Into<Box<str>>) -> Self {
        Self(text.into())
    }

    /// Returns the cursor as a string.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The parameters of a list request. Default: the first page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Page {
    /// The page's cursor. Absent for the first page.
    // spec: PAG-01
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<Cursor>,
}

impl From<Cursor> for Page {
    fn from(cursor: Cursor) -> Self {
        Self {
            cursor: Some(cursor),
        }
    }
}

/// Defines the result of a list request: one page.
macro_rules! list_result {
    ($(#[$doc:meta])* $result:ident { $(#[$about:meta])* $items:ident: $item:ident }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
        #[serde(rename_all = "camelCase")]
        #[non_exhaustive]
        pub struct $result {
            $(#[$about])*
            pub $items: Vec<$item>,
            /// Cursor of the next page. Absent on the last page.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub next_cursor: Option<$crate::page::Cursor>,
            /// Protocol-level metadata (`_meta`).
            #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
            pub meta: Option<$crate::meta::Meta>,
        }

        impl From<Vec<$item>> for $result {
            fn from($items: Vec<$item>) -> Self {
                Self {
                    $items,
                    ..Self::default()
                }
            }
        }
    };
}

pub(crate) use list_result;

//! Scopes that calls need.

use std::fmt;

use crate::message::ItemKind;

/// The scopes that a refused call needs. The HTTP transport inserts it into the extensions of its
/// response with the status 403, so that a layer with the authorization's settings can complete the
/// challenge.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "names a list")]
pub struct RequiredScopes {
    /// All scopes of the call, also those that the caller has.
    pub scopes: Vec<String>,
}

/// An item whose calls need scopes: the result of [`Service::scoped_item`](crate::Service::scoped_item).
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "services construct it")]
pub struct ScopedItem {
    /// The kind of item.
    pub kind: ItemKind,
    /// The name or URI of the item.
    pub id: String,
    /// Scopes of every call. Empty if a function decides for each call.
    pub scopes: Vec<String>,
}

impl fmt::Display for ScopedItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, id, scopes } = self;
        if scopes.is_empty() {
            write!(f, "the {kind} {id:?} needs scopes")
        } else {
            write!(
                f,
                "the {kind} {id:?} needs the scopes: {}",
                scopes.join(" ")
            )
        }
    }
}

//! A client's roots, as a server that asks for them is told.

use std::sync::atomic::{AtomicBool, Ordering};

use mcp_types::ListRootsResult;

/// The roots of a client, as a server that asks is told.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum CallerRoots {
    /// The client was not asked.
    #[default]
    Unknown,
    /// The client does not tell them.
    Refused,
    Known(ListRootsResult),
}

/// The requests of a server for roots, as far as they are known. Its sessions share this value.
#[derive(Debug, Default)]
pub(crate) struct RootsRequests {
    pub(super) has_asked: AtomicBool,
    /// The server asks when a session begins, before its first call.
    pub(super) asks_first: AtomicBool,
}

impl RootsRequests {
    /// Returns true if the server has asked for roots in a session.
    pub(super) fn has_asked(&self) -> bool {
        self.has_asked.load(Ordering::Relaxed)
    }
}

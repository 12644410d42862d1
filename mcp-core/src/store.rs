//! What outlives a connection, a node, or a process: sessions, and the events of their streams.
//!
//! A server without stores keeps its sessions in memory and its streams nowhere. Nodes that share
//! stores continue each other's sessions and streams.

mod events;
mod sessions;

use std::error::Error;
use std::fmt;

pub use events::{EventStore, MemoryEventStore, Replay, ReplayError, StoredEvent, StreamId};
pub use sessions::{MemorySessionStore, SessionStore};

/// A store could not do what it was asked for.
#[derive(Debug)]
pub struct StoreError(Box<dyn Error + Send + Sync>);

impl StoreError {
    /// What went wrong.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(error.into())
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the store failed: {}", self.0)
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}

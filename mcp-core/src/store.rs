//! Stores of sessions, stream events and tasks, which outlive a connection, a node or a process.
//!
//! A server without stores keeps sessions in memory and does not keep events. Nodes that share stores
//! continue each other's sessions and streams.
//!
//! | module | content |
//! |---|---|
//! | `sessions`, `session_record` | session stores, the one in memory, and the stored state |
//! | `events`, `memory_events` | event stores, for clients that reconnect |
//! | `tasks`, `memory_tasks` | task stores |
//! | `relay` | messages between nodes that share sessions |

mod events;
mod memory_events;
mod memory_tasks;
mod relay;
mod session_record;
mod sessions;
mod tasks;

use std::error::Error;

pub use events::{EventStore, Replay, ReplayError, StoredEvent, StreamId};
pub use memory_events::MemoryEventStore;
pub use memory_tasks::MemoryTaskStore;
pub use relay::{RelayEvent, RelayMessage, RelayTarget, SessionRelay};
pub use session_record::SessionRecord;
pub use sessions::{MemorySessionStore, SessionStore};
pub use tasks::{TaskLimits, TaskRecord, TaskStore, TaskWrite};

/// The error of a store.
///
/// Its message may contain secrets, such as the URL of a database with its password. Servers write it
/// to the log, and answer clients with a fixed message.
#[derive(Debug, thiserror::Error)]
#[error("the store failed: {0}")]
pub struct StoreError(#[source] Box<dyn Error + Send + Sync>);

impl StoreError {
    /// Wraps the error of a store.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(error.into())
    }
}

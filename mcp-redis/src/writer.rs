//! Names of writes.

use std::sync::atomic::{AtomicU64, Ordering};

use uuid::Uuid;

/// Names the writes of this node: a write that is repeated after a failure of the connection succeeds
/// once.
pub(crate) struct Writer {
    name: Uuid,
    last: AtomicU64,
}

impl Writer {
    pub(crate) fn new() -> Self {
        Self {
            name: Uuid::new_v4(),
            last: AtomicU64::new(0),
        }
    }

    /// Returns the name of a new write.
    pub(crate) fn next(&self) -> String {
        let number = self.last.fetch_add(1, Ordering::Relaxed);
        format!("{}.{number}", self.name.as_simple())
    }
}

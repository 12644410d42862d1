//! Pipe counters, for metrics.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use mcp_core::EndpointMetrics;
use parking_lot::Mutex;

use crate::write_queue::WriteQueue;

/// Pipe counters.
#[derive(Debug, Default)]
pub(super) struct Counters {
    sessions: AtomicU64,
    /// Each running subscription has a clone.
    pub(super) subscriptions: Arc<()>,
    /// Refused messages by JSON-RPC error code. The codes are those of the protocol, so they are few.
    refused: Mutex<BTreeMap<i64, u64>>,
    queue: OnceLock<Weak<WriteQueue>>,
}

impl Counters {
    /// Sets the pipe's queue. One server serves one pipe.
    pub(super) fn set_queue(&self, queue: &Arc<WriteQueue>) {
        let _ = self.queue.set(Arc::downgrade(queue));
    }

    /// Sets the number of open sessions.
    pub(super) fn set_sessions(&self, sessions: u64) {
        self.sessions.store(sessions, Ordering::Relaxed);
    }

    /// Counts a refused message.
    pub(super) fn refuse(&self, code: i64) {
        *self.refused.lock().entry(code).or_default() += 1;
    }

    /// Returns a snapshot.
    pub(super) fn read(&self) -> EndpointMetrics {
        let queue = self.queue.get().and_then(Weak::upgrade);
        let mut metrics = EndpointMetrics::default();
        metrics.sessions = self.sessions.load(Ordering::Relaxed);
        metrics.subscriptions = Arc::strong_count(&self.subscriptions) as u64 - 1;
        metrics.queued_bytes = queue.map_or(0, |queue| queue.len() as u64);
        metrics.refused_by_code = self.refused.lock().clone();
        metrics
    }
}

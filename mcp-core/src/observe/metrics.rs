//! Snapshots for metrics and health checks: endpoints, authorization, tasks.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A snapshot of what an endpoint holds and has refused, for metrics and health checks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EndpointMetrics {
    /// Open sessions of legacy clients.
    pub sessions: u64,
    /// Open event streams of calls, subscriptions and sessions. A pipe has none.
    pub streams: u64,
    /// Running `subscriptions/listen` requests.
    pub subscriptions: u64,
    /// Bytes of messages that wait in queues until clients read them.
    pub queued_bytes: u64,
    /// The number of requests that were refused before a service was called, by HTTP status.
    pub refused: BTreeMap<u16, u64>,
    /// The number of messages on a pipe that were refused before a service was called, by JSON-RPC
    /// error code.
    pub refused_by_code: BTreeMap<i64, u64>,
}

/// A snapshot of the decisions about access tokens since the start of the server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuthMetrics {
    /// Requests with a valid token.
    pub accepted: u64,
    /// Refused requests, by reason: the challenge's error code, or `no_token`.
    pub refused: BTreeMap<&'static str, u64>,
}

/// A snapshot of one node's tasks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskMetrics {
    /// Tasks that this node runs, by status: `working` and `input_required`.
    pub open: BTreeMap<&'static str, u64>,
    /// Tasks of this node that have ended since its start, by status: `completed`, `failed` or
    /// `cancelled`. Expired tasks count as `cancelled`.
    pub ended: BTreeMap<&'static str, u64>,
}

/// The share of one queue in a total. Dropping it removes its bytes.
#[derive(Debug)]
pub(crate) struct QueueShare {
    total: Arc<AtomicU64>,
    own: u64,
}

impl QueueShare {
    /// The share of a queue that is empty.
    pub(crate) fn new(total: &Arc<AtomicU64>) -> Self {
        Self {
            total: total.clone(),
            own: 0,
        }
    }

    /// Sets the size of this queue in bytes.
    pub(crate) fn set(&mut self, bytes: u64) {
        // Wraps on both sides, so a decrease is the addition of its complement.
        let change = bytes.wrapping_sub(self.own);
        self.total.fetch_add(change, Ordering::Relaxed);
        self.own = bytes;
    }
}

impl Drop for QueueShare {
    fn drop(&mut self) {
        self.set(0);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::QueueShare;

    #[test]
    fn total_is_the_sum_over_existing_queues() {
        let total = Arc::new(AtomicU64::new(0));
        let (mut first, mut second) = (QueueShare::new(&total), QueueShare::new(&total));
        first.set(10);
        second.set(7);
        first.set(3);
        assert_eq!(total.load(Ordering::Relaxed), 10);
        drop(second);
        assert_eq!(total.load(Ordering::Relaxed), 3);
        drop(first);
        assert_eq!(total.load(Ordering::Relaxed), 0);
    }
}

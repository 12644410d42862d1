//! Endpoint counters.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use http::StatusCode;
use parking_lot::Mutex;

use super::request_body::BodyBudget;

/// Endpoint counters, shared by its clones.
#[derive(Debug, Default)]
pub(super) struct Counters {
    streams: AtomicU64,
    subscriptions: AtomicU64,
    /// Bytes of notifications and replies that clients have not read.
    pub(super) queued: Arc<AtomicU64>,
    pub(super) bodies: BodyBudget,
    refused: Mutex<BTreeMap<u16, u64>>,
}

/// Kinds of counted values.
#[derive(Debug, Clone, Copy)]
enum CountedKind {
    Stream,
    Subscription,
}

impl Counters {
    fn counter(&self, kind: CountedKind) -> &AtomicU64 {
        match kind {
            CountedKind::Stream => &self.streams,
            CountedKind::Subscription => &self.subscriptions,
        }
    }

    fn count(self: &Arc<Self>, kind: CountedKind) -> Counted {
        self.counter(kind).fetch_add(1, Ordering::Relaxed);
        Counted {
            counters: Arc::clone(self),
            kind,
        }
    }

    /// Counts an event stream until the guard is dropped.
    pub(super) fn stream(self: &Arc<Self>) -> Counted {
        self.count(CountedKind::Stream)
    }

    /// Counts a subscription until the guard is dropped.
    pub(super) fn subscription(self: &Arc<Self>) -> Counted {
        self.count(CountedKind::Subscription)
    }

    /// Counts a refused request.
    pub(super) fn refuse(&self, status: StatusCode) {
        *self.refused.lock().entry(status.as_u16()).or_default() += 1;
    }

    pub(super) fn streams(&self) -> u64 {
        self.streams.load(Ordering::Relaxed)
    }

    pub(super) fn subscriptions(&self) -> u64 {
        self.subscriptions.load(Ordering::Relaxed)
    }

    pub(super) fn refused(&self) -> BTreeMap<u16, u64> {
        self.refused.lock().clone()
    }
}

/// A counted value. Dropping it decreases the counter.
#[derive(Debug)]
pub(super) struct Counted {
    counters: Arc<Counters>,
    kind: CountedKind,
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.counters
            .counter(self.kind)
            .fetch_sub(1, Ordering::Relaxed);
    }
}

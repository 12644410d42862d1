//! Endpoint counters.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use http::StatusCode;
use parking_lot::Mutex;

use super::request::body::BodyBudget;

/// Endpoint counters, shared by its clones.
#[derive(Debug, Default)]
pub(super) struct Counters {
    /// Each open event stream has a clone.
    pub(super) streams: Arc<()>,
    /// Each running subscription has a clone.
    pub(super) subscriptions: Arc<()>,
    /// Bytes of notifications and replies that clients have not read.
    pub(super) queued: Arc<AtomicU64>,
    pub(super) bodies: BodyBudget,
    refused: Mutex<BTreeMap<u16, u64>>,
}

impl Counters {
    /// Counts a refused request.
    pub(super) fn refuse(&self, status: StatusCode) {
        *self.refused.lock().entry(status.as_u16()).or_default() += 1;
    }

    pub(super) fn refused(&self) -> BTreeMap<u16, u64> {
        self.refused.lock().clone()
    }
}

//! Endpoint counters.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use http::StatusCode;
use parking_lot::Mutex;

use super::super::request::body::BodyBudget;

/// Endpoint counters, shared by its clones.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Each open event stream has a clone.
    pub(crate) streams: Arc<()>,
    /// Each running subscription has a clone.
    pub(crate) subscriptions: Arc<()>,
    /// Bytes of notifications and replies that clients have not read.
    pub(crate) queued: Arc<AtomicU64>,
    pub(crate) bodies: BodyBudget,
    refused: Mutex<BTreeMap<u16, u64>>,
}

impl Counters {
    /// Counts a refused request.
    pub(crate) fn refuse(&self, status: StatusCode) {
        *self.refused.lock().entry(status.as_u16()).or_default() += 1;
    }

    pub(crate) fn refused(&self) -> BTreeMap<u16, u64> {
        self.refused.lock().clone()
    }
}

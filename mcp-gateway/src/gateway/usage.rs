//! The calls of a server that run.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::time::Instant;

/// The number of running calls of one server, and the time at which the last one has ended.
#[derive(Debug, Clone)]
pub(super) struct Usage(Arc<Mutex<UsageState>>);

#[derive(Debug)]
struct UsageState {
    calls: usize,
    idle_since: Instant,
}

/// One call, until this is dropped.
#[derive(Debug)]
pub(super) struct InUse(Usage);

impl Usage {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(UsageState {
            calls: 0,
            idle_since: Instant::now(),
        })))
    }

    /// Counts a call.
    pub(super) fn begin(&self) -> InUse {
        self.0.lock().calls += 1;
        InUse(self.clone())
    }

    /// Returns the end of the last call. `None` while one runs.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        let state = self.0.lock();
        (state.calls == 0).then_some(state.idle_since)
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        let mut state = self.0.0.lock();
        state.calls -= 1;
        state.idle_since = Instant::now();
    }
}

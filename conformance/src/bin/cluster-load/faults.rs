//! The faults of a run, and the errors that they explain.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Times in which a node was killed or Redis was not available.
#[derive(Default)]
pub(crate) struct Faults(Mutex<Vec<(Instant, Instant)>>);

impl Faults {
    /// Records a fault that began at `start` and has ended now.
    pub(crate) fn add(&self, start: Instant) {
        let mut faults = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        faults.push((start, Instant::now()));
    }

    /// Returns true if a call that began at `start` and has just failed was in flight during a fault.
    pub(crate) fn explain(&self, start: Instant) -> bool {
        // The fault is recorded after it has ended.
        const SLACK: Duration = Duration::from_millis(500);

        let faults = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let end = Instant::now();
        let mut faults = faults.iter();
        faults.any(|(from, until)| *from <= end && *until + SLACK >= start)
    }
}

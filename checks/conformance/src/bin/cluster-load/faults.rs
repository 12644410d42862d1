//! The faults of a run, and the errors that they explain.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Times in which a node was killed or Redis was not available.
#[derive(Default)]
pub(crate) struct Faults(Mutex<Vec<Fault>>);

struct Fault {
    start: Instant,
    /// `None`: the fault has not ended.
    end: Option<Instant>,
}

impl Faults {
    /// Records the start of a fault.
    pub(crate) fn start(&self) {
        let mut faults = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        faults.push(Fault {
            start: Instant::now(),
            end: None,
        });
    }

    /// Records the end of the last fault.
    pub(crate) fn end(&self) {
        let mut faults = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(fault) = faults.last_mut() {
            fault.end = Some(Instant::now());
        }
    }

    /// Returns true if a call that began at `start` and has just failed was in flight during a fault.
    pub(crate) fn explain(&self, start: Instant) -> bool {
        let faults = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut faults = faults.iter();
        let now = Instant::now();
        faults.any(|fault| fault.start <= now && fault.end.is_none_or(|end| end >= start))
    }
}

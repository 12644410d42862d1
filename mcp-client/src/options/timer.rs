//! Call timeouts.

use std::time::Duration;

use mcp_core::deadline::finite;
use tokio::time::Instant;

use crate::error::ErrorKind;

/// Call timeouts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timeouts {
    /// Time without progress.
    pub(crate) idle: Duration,
    /// Total time.
    pub(crate) total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            idle: Duration::from_secs(60),
            total: Duration::from_secs(600),
        }
    }
}

/// The deadlines of one call. The total time can be paused.
pub(crate) struct CallTimer {
    timeouts: Timeouts,
    end: Instant,
    paused_at: Option<Instant>,
}

impl CallTimer {
    /// Starts the timer. `defaults` applies where the call sets no timeout.
    pub(crate) fn start(
        defaults: Timeouts,
        idle: Option<Duration>,
        total: Option<Duration>,
    ) -> Self {
        let timeouts = Timeouts {
            idle: idle.unwrap_or(defaults.idle),
            total: total.unwrap_or(defaults.total),
        };
        Self {
            timeouts,
            end: deadline_after(timeouts.total),
            paused_at: None,
        }
    }

    /// Pauses the timer while the server waits for the client.
    pub(crate) fn pause(&mut self) {
        self.paused_at.get_or_insert_with(Instant::now);
    }

    pub(crate) fn resume(&mut self) {
        if let Some(since) = self.paused_at.take() {
            self.end += since.elapsed();
        }
    }

    /// Returns the next deadline, provided that no progress arrives.
    pub(crate) fn deadline(&self) -> Instant {
        deadline_after(self.timeouts.idle).min(self.end)
    }

    /// Extends the total time to at least one more idle timeout.
    pub(crate) fn extend(&mut self) {
        self.end = self.end.max(deadline_after(self.timeouts.idle));
    }

    /// Returns the end of the total time.
    pub(crate) fn end(&self) -> Instant {
        self.end
    }

    /// Returns the error for a missed `deadline`.
    pub(crate) fn timed_out(&self, deadline: Instant) -> ErrorKind {
        if deadline == self.end {
            ErrorKind::TotalTimeout(self.timeouts.total)
        } else {
            ErrorKind::TimedOut(self.timeouts.idle)
        }
    }
}

/// Returns the time after `wait`.
pub(crate) fn deadline_after(wait: Duration) -> Instant {
    Instant::now() + finite(wait)
}

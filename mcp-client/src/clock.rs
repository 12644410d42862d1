//! How long calls may take.

use std::time::Duration;

use tokio::time::Instant;

use crate::error::Kind;

/// How long calls may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timeouts {
    /// Without progress.
    pub(crate) idle: Duration,
    /// In all.
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

/// When a call is given up.
pub(crate) struct Clock {
    timeouts: Timeouts,
    end: Instant,
    paused: Option<Instant>,
}

impl Clock {
    /// Starts the time of a call; what it does not set is as the client has it.
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
            end: after(timeouts.total),
            paused: None,
        }
    }

    /// Stops the time: the server waits for this side now.
    pub(crate) fn pause(&mut self) {
        self.paused.get_or_insert_with(Instant::now);
    }

    /// Lets the time go on.
    pub(crate) fn resume(&mut self) {
        if let Some(since) = self.paused.take() {
            self.end += since.elapsed();
        }
    }

    /// The deadline if nothing happens from now on.
    pub(crate) fn deadline(&self) -> Instant {
        after(self.timeouts.idle).min(self.end)
    }

    /// Waits once more, whatever the end was.
    pub(crate) fn extend(&mut self) {
        self.end = self.end.max(after(self.timeouts.idle));
    }

    /// The end of all patience.
    pub(crate) fn end(&self) -> Instant {
        self.end
    }

    pub(crate) fn timed_out(&self, deadline: Instant) -> Kind {
        if deadline == self.end {
            Kind::TimedOutInAll(self.timeouts.total)
        } else {
            Kind::TimedOut(self.timeouts.idle)
        }
    }
}

/// The time that is `wait` away; waits beyond all reason are cut.
pub(crate) fn after(wait: Duration) -> Instant {
    const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);
    Instant::now() + wait.min(YEAR)
}

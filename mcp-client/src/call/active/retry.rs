//! Number and times of repetitions. `recovery` decides whether a failed request is repeated.

use std::time::Duration;

use mcp_core::Backoff;
use tokio::time::{Instant, sleep_until};

use crate::error::ErrorKind;
use crate::options::CallTimer;

/// Largest number of repetitions after a lost connection.
const MAX_REPEATS: usize = 2;

/// Longest wait before a repetition that a server asks for.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// Repetitions of one call. Those of the four kinds that are flags are [`permitted`] once.
pub(super) struct RetryState {
    repeats: usize,
    backoff: Backoff,
    pub(super) version_switched: bool,
    pub(super) headers_refreshed: bool,
    pub(super) session_renewed: bool,
    /// A session with a server that was taken for a modern one.
    pub(super) session_opened: bool,
}

/// Permits a repetition that was not permitted before.
pub(super) fn permitted(flag: &mut bool) -> bool {
    !std::mem::replace(flag, true)
}

impl Default for RetryState {
    fn default() -> Self {
        Self {
            repeats: 0,
            backoff: Backoff::new(Duration::from_millis(250), Duration::from_secs(2)),
            version_switched: false,
            headers_refreshed: false,
            session_renewed: false,
            session_opened: false,
        }
    }
}

impl RetryState {
    /// Permits and counts a repetition after a lost or refused connection, twice per call.
    pub(super) fn may_repeat(&mut self) -> bool {
        let may_repeat = self.repeats < MAX_REPEATS;
        self.repeats += usize::from(may_repeat);
        may_repeat
    }

    /// Waits before a repetition: the time that the server asks for, up to ten seconds, otherwise a growing one.
    ///
    /// # Errors
    ///
    /// Returns the timeout error when the total time of the call ends first.
    pub(super) async fn wait(
        &mut self,
        timer: &CallTimer,
        retry_after: Option<Duration>,
    ) -> Result<(), ErrorKind> {
        let end = timer.end();
        let delay = self.backoff.next_delay();
        let delay = retry_after.map_or(delay, |asked| asked.min(MAX_WAIT).max(delay));
        let until = Instant::now() + delay;
        sleep_until(until.min(end)).await;
        if until >= end {
            return Err(timer.timed_out(end));
        }
        Ok(())
    }
}

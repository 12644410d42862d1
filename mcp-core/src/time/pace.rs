//! A limit of events that others cause.

use std::time::{Duration, Instant};

/// Permits a number of events at once, and then one per interval.
///
/// # Examples
///
/// ```
/// use std::time::{Duration, Instant};
/// use mcp::core::Pace;
///
/// let second = Duration::from_secs(1);
/// let (mut pace, now) = (Pace::default(), Instant::now());
/// assert_eq!([0, 0, 0].map(|_| pace.permit(now, 2, second)), [Ok(()), Ok(()), Err(second)]);
/// assert_eq!(pace.permit(now + second, 2, second), Ok(()));
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Pace {
    /// The time from which all events are permitted again. Each event moves it by one interval.
    free_at: Option<Instant>,
}

impl Pace {
    /// Counts an event at the time `now`, if it is permitted.
    ///
    /// # Errors
    ///
    /// Returns the time until an event is permitted. This one is not counted.
    pub fn permit(
        &mut self,
        now: Instant,
        at_once: u32,
        interval: Duration,
    ) -> Result<(), Duration> {
        let free_at = self.free_at.map_or(now, |free_at| now.max(free_at)) + interval;
        let wait = free_at.saturating_duration_since(now + interval * at_once);
        if !wait.is_zero() {
            return Err(wait);
        }
        self.free_at = Some(free_at);
        Ok(())
    }

    /// Returns true if nothing that was counted matters any more.
    pub fn is_free(&self, now: Instant) -> bool {
        self.free_at.is_none_or(|free_at| free_at <= now)
    }
}

//! A limit of log lines.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// The time between two lines.
const INTERVAL: Duration = Duration::from_secs(1);

/// Permits one log line per second, for events that clients can cause as often as they like.
///
/// # Examples
///
/// ```
/// use std::time::{Duration, Instant};
/// use mcp::core::LogLimit;
///
/// static REFUSED: LogLimit = LogLimit::new();
///
/// let now = Instant::now();
/// assert_eq!(REFUSED.permit(now), Some(0));
/// assert_eq!(REFUSED.permit(now), None);
/// assert_eq!(REFUSED.permit(now + Duration::from_secs(1)), Some(1));
/// ```
#[derive(Debug, Default)]
pub struct LogLimit(Mutex<LogState>);

#[derive(Debug, Default)]
struct LogState {
    last: Option<Instant>,
    suppressed: u64,
}

impl LogLimit {
    /// A limit that has permitted no line yet.
    pub const fn new() -> Self {
        Self(Mutex::new(LogState {
            last: None,
            suppressed: 0,
        }))
    }

    /// Returns the number of lines that were suppressed since the last one, or `None` to suppress this one,
    /// too.
    pub fn permit(&self, now: Instant) -> Option<u64> {
        let mut state = self.0.lock();
        let is_early = |last| now.saturating_duration_since(last) < INTERVAL;
        if state.last.is_some_and(is_early) {
            state.suppressed += 1;
            return None;
        }
        state.last = Some(now);
        Some(std::mem::take(&mut state.suppressed))
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::LogLimit;

    #[test]
    fn one_line_per_second_tells_how_many_were_suppressed() {
        let limit = LogLimit::new();
        let start = Instant::now();
        let at = |milliseconds| limit.permit(start + Duration::from_millis(milliseconds));
        assert_eq!(at(0), Some(0));
        for time in [0, 500, 999] {
            assert_eq!(at(time), None);
        }
        assert_eq!(at(1000), Some(3));
        assert_eq!(at(1001), None);
        assert_eq!(at(5000), Some(1));
    }
}

//! Deadlines of waits that a user may configure to be very long.

use std::time::Duration;

/// The longest wait: 30 years. Some platforms cannot represent instants that are much later.
const MAX: Duration = Duration::from_secs(30 * 365 * 24 * 3600);

/// Limits a wait to 30 years, so that it can be added to the current instant without an overflow.
/// `Duration::MAX` means "never" for users.
pub const fn finite(wait: Duration) -> Duration {
    // `Ord::min` is not const.
    if wait.as_secs() < MAX.as_secs() {
        wait
    } else {
        MAX
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::finite;

    #[test]
    fn every_finite_wait_can_be_added_to_now() {
        for wait in [Duration::ZERO, Duration::from_secs(1), Duration::MAX / 4] {
            assert!(Instant::now().checked_add(finite(wait)).is_some());
        }
        assert_eq!(finite(Duration::from_millis(1)), Duration::from_millis(1));
        assert!(finite(Duration::MAX) > Duration::from_secs(3600 * 24 * 365));
    }
}

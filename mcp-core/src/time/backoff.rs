//! Delays between retries.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::time::Duration;

/// Exponential backoff with jitter: delays that double with each retry. Jitter spreads the clients
/// that lost a server at the same time. For loops that connect, list or subscribe again.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use mcp::core::Backoff;
///
/// let mut backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(60));
/// for nominal in [1, 2, 4] {
///     let delay = backoff.next_delay();
///     assert!(delay >= Duration::from_secs(nominal) / 2 && delay <= Duration::from_secs(nominal));
/// }
/// // The server has answered.
/// backoff.reset();
/// ```
#[derive(Debug, Clone)]
pub struct Backoff {
    first: Duration,
    max: Duration,
    retries: u32,
}

impl Backoff {
    /// Delays whose nominal values grow from `first` up to `max`.
    pub fn new(first: Duration, max: Duration) -> Self {
        Self {
            first,
            max,
            retries: 0,
        }
    }

    /// Returns the next delay: between half of the nominal delay and all of it.
    pub fn next_delay(&mut self) -> Duration {
        // spec: CACHE-06
        let delay = delay(self.first, self.retries, self.max, random_fraction());
        self.retries = self.retries.saturating_add(1);
        delay
    }

    /// Restarts at the first delay, because the last retry was successful.
    pub fn reset(&mut self) {
        self.retries = 0;
    }
}

/// Returns `first`, doubled `times` times, and at most `max`. `random`, from 0 up to 1, shortens it by up to half.
pub fn delay(first: Duration, times: u32, max: Duration, random: f64) -> Duration {
    let factor = 1_u32.checked_shl(times).unwrap_or(u32::MAX);
    let longest = first.saturating_mul(factor).min(max);
    longest.mul_f64(0.5 + random / 2.0)
}

/// Returns a number from 0 up to 1. It is random enough for jitter, and for nothing else.
pub fn random_fraction() -> f64 {
    let bits = RandomState::new().build_hasher().finish();
    f64::from((bits >> 32) as u32) / (f64::from(u32::MAX) + 1.0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::Duration;

    use super::Backoff;

    // spec: CACHE-06
    #[test]
    fn delays_double_up_to_the_maximum() {
        let mut backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(10));
        for due in [1, 2, 4, 8, 10, 10] {
            let wait = backoff.next_delay();
            let due = Duration::from_secs(due);
            assert!(wait >= due / 2 && wait <= due, "{wait:?} of {due:?}");
        }
        backoff.reset();
        assert!(backoff.next_delay() <= Duration::from_secs(1));
        // Jitter: clients that lost a server together do not come back together.
        let first = Duration::from_secs(1);
        let delays: BTreeSet<_> = (0..100)
            .map(|_| Backoff::new(first, first).next_delay())
            .collect();
        assert!(delays.len() > 1, "{delays:?}");
    }
}

//! How long to wait before something is tried again.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::time::Duration;

/// Waits that grow from try to try, each cut short by chance so that clients which lost a server
/// together do not come back together.
// spec: CACHE-06
#[derive(Debug, Clone)]
pub struct Backoff {
    first: Duration,
    most: Duration,
    tries: u32,
}

impl Backoff {
    /// Waits from `first` up to `most`.
    #[inline]
    pub fn new(first: Duration, most: Duration) -> Self {
        Self {
            first,
            most,
            tries: 0,
        }
    }

    /// The next wait: at least half of what is due.
    #[expect(clippy::should_implement_trait, reason = "the waits never end")]
    #[inline]
    pub fn next_delay(&mut self) -> Duration {
        let due = exponential(self.first, self.tries, self.most);
        self.tries = self.tries.saturating_add(1);
        jitter(due, random_fraction())
    }

    /// Begins anew: the last try has come to something.
    #[inline]
    pub fn reset(&mut self) {
        self.tries = 0;
    }
}

/// `first`, exponential so many times, but `most` at the most.
#[inline]
pub fn exponential(first: Duration, times: u32, most: Duration) -> Duration {
    let factor = 1_u32.checked_shl(times).unwrap_or(u32::MAX);
    first.saturating_mul(factor).min(most)
}

/// A wait cut short by `chance`, a number from 0 up to 1: at least half of what is due.
#[inline]
pub fn jitter(due: Duration, chance: f64) -> Duration {
    due.mul_f64(0.5 + chance / 2.0)
}

/// A number from 0 up to 1; good enough to spread waits, and for nothing else.
#[inline]
pub fn random_fraction() -> f64 {
    let bits = RandomState::new().build_hasher().finish();
    f64::from((bits >> 32) as u32) / (f64::from(u32::MAX) + 1.0)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Backoff;

    #[test]
    fn waits_grow_up_to_their_most() {
        let mut backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(10));
        for due in [1, 2, 4, 8, 10, 10] {
            let wait = backoff.next_delay();
            let due = Duration::from_secs(due);
            assert!(wait >= due / 2 && wait <= due, "{wait:?} of {due:?}");
        }
        backoff.reset();
        assert!(backoff.next_delay() <= Duration::from_secs(1));
        for _ in 0..100 {
            backoff.next_delay();
        }
    }
}

//! The rate of challenges that a caller causes.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// Challenges that one caller may cause in each minute.
pub(super) const MAX_CHALLENGES: u32 = 30;
/// Callers whose challenges are counted. Further ones have to wait for the next minute.
const MAX_CALLERS: usize = 10_000;
const MINUTE: Duration = Duration::from_secs(60);

/// The number of each caller's challenges in the current minute.
#[derive(Debug, Default)]
pub(super) struct ChallengeRate(Mutex<Option<(Instant, HashMap<String, u32>)>>);

impl ChallengeRate {
    /// Counts a challenge. Returns false if the caller has to wait.
    pub(super) fn admits(&self, owner: &str) -> bool {
        let mut minute = self.0.lock();
        let (start, counts) = minute.get_or_insert_with(|| (Instant::now(), HashMap::new()));
        if start.elapsed() >= MINUTE {
            *start = Instant::now();
            counts.clear();
        }
        if counts.len() >= MAX_CALLERS && !counts.contains_key(owner) {
            return false;
        }
        let count = counts.entry(owner.to_owned()).or_default();
        *count = count.saturating_add(1);
        *count <= MAX_CHALLENGES
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{ChallengeRate, MAX_CALLERS, MAX_CHALLENGES};

    #[tokio::test(start_paused = true)]
    async fn caller_causes_challenges_at_a_limited_rate() {
        let rate = ChallengeRate::default();
        let admitted = |owner: &str| (0..100).filter(|_| rate.admits(owner)).count();
        assert_eq!(admitted("ada"), MAX_CHALLENGES as usize);
        assert_eq!(admitted("bob"), MAX_CHALLENGES as usize);
        tokio::time::advance(Duration::from_secs(61)).await;
        assert_eq!(admitted("ada"), MAX_CHALLENGES as usize);
        let others = (0..2 * MAX_CALLERS).filter(|number| rate.admits(&number.to_string()));
        assert_eq!(others.count(), MAX_CALLERS - 1);
    }
}

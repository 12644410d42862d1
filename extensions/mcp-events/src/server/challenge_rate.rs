//! The rate of challenges that a caller causes.

use std::collections::HashMap;
use std::time::Duration;

use mcp_core::Pace;
use parking_lot::Mutex;
use tokio::time::Instant;

/// Challenges that one caller may cause at once. One more is admitted after each interval.
pub(super) const MAX_CHALLENGES: u32 = 30;
const INTERVAL: Duration = Duration::from_secs(2);
/// Callers whose challenges are counted. Further ones have to wait until one of them has caused none for a while.
const MAX_CALLERS: usize = 10_000;

/// The pace of each caller.
#[derive(Debug, Default)]
pub(super) struct ChallengeRate(Mutex<HashMap<String, Pace>>);

impl ChallengeRate {
    /// Counts a challenge. Returns false if the caller has to wait.
    pub(super) fn admits(&self, owner: &str) -> bool {
        let now = Instant::now().into_std();
        let paces = &mut *self.0.lock();
        if paces.len() >= MAX_CALLERS && !paces.contains_key(owner) {
            paces.retain(|_, pace| !pace.is_free(now));
            if paces.len() >= MAX_CALLERS {
                return false;
            }
        }
        let pace = paces.entry(owner.to_owned()).or_default();
        pace.permit(now, MAX_CHALLENGES, INTERVAL).is_ok()
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

//! The request states that clients have used, in memory.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcp_core::CallerKey;
use mcp_core::store::StoreError;
use parking_lot::Mutex;

/// A store in this process's memory.
///
/// It has at most 100,000 states, and 10,000 of one caller. When it is full, further ones fail until others have
/// expired.
#[derive(Debug, Default)]
pub(super) struct MemoryUsedStates(Mutex<UsedStates>);

/// States of all callers.
const MAX_STATES: usize = 100_000;
/// The longest life of a state: 34 years, which every clock can represent.
const LONGEST: Duration = Duration::from_secs(1 << 30);
/// States of one caller.
const MAX_OF_CALLER: usize = 10_000;

#[derive(Debug, Default)]
struct UsedStates {
    by_id: HashMap<Arc<str>, CallerKey>,
    by_expiry: BTreeSet<(Instant, Arc<str>)>,
    /// The number of states per caller.
    callers: HashMap<CallerKey, usize>,
}

impl UsedStates {
    fn expire(&mut self, now: Instant) {
        while let Some((until, id)) = self.by_expiry.pop_first() {
            if until > now {
                self.by_expiry.insert((until, id));
                return;
            }
            if let Some(caller) = self.by_id.remove(&id)
                && let Some(count) = self.callers.get_mut(&caller)
            {
                *count -= 1;
                if *count == 0 {
                    self.callers.remove(&caller);
                }
            }
        }
    }

    // spec: MRTR-09
    fn insert(
        &mut self,
        caller: &CallerKey,
        id: &str,
        (now, ttl): (Instant, Duration),
    ) -> Result<bool, StoreError> {
        self.expire(now);
        if self.by_id.contains_key(id) {
            return Ok(false);
        }
        let of_caller = self.callers.get(caller).copied().unwrap_or_default();
        if self.by_id.len() >= MAX_STATES || of_caller >= MAX_OF_CALLER {
            return Err(StoreError::new("too many request states are used"));
        }
        let id: Arc<str> = id.into();
        self.by_expiry.insert((now + ttl.min(LONGEST), id.clone()));
        self.by_id.insert(id, caller.clone());
        *self.callers.entry(caller.clone()).or_default() += 1;
        Ok(true)
    }
}

impl MemoryUsedStates {
    pub(super) fn insert(
        &self,
        caller: &CallerKey,
        id: &str,
        ttl: Duration,
    ) -> Result<bool, StoreError> {
        self.0.lock().insert(caller, id, (Instant::now(), ttl))
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use mcp_core::{CallerKey, Principal};

    use super::{MAX_OF_CALLER, UsedStates};

    // spec: MRTR-09
    #[test]
    fn state_is_used_once_within_the_limit_for_each_caller() {
        let mut used = UsedStates::default();
        let (ada, bob) = (Principal::new("i", "ada"), Principal::new("i", "bob"));
        let (ada, bob) = (CallerKey::new(Some(&ada)), CallerKey::new(Some(&bob)));
        let ttl = Duration::from_secs(10);
        let now = Instant::now();
        let mut insert = |caller: &CallerKey, id: &str| used.insert(caller, id, (now, ttl));
        assert!(insert(&ada, "0").unwrap());
        assert!(!insert(&ada, "0").unwrap());
        for number in 1..MAX_OF_CALLER {
            assert!(insert(&ada, &number.to_string()).unwrap());
        }
        assert!(insert(&ada, "more").is_err());
        assert!(!insert(&ada, "0").unwrap(), "a known state stays known");
        assert!(insert(&bob, "more").unwrap());
        assert!(used.insert(&ada, "0", (now + ttl, ttl)).unwrap());
        assert_eq!((used.by_id.len(), used.by_expiry.len()), (1, 1));
        assert_eq!(used.callers.len(), 1);
    }
}

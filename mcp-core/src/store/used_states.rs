//! Stores of the request states that were used.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use parking_lot::Mutex;

use super::StoreError;
use crate::CallerKey;
use crate::deadline::finite;

/// A store of the request states that clients have used, so that a state that is sent again counts as a repeated
/// one. Nodes that share a store count the uses of all of them.
///
/// # Implementations
///
/// [`insert`](Self::insert) is one command of a store such as Redis: `SET id "" NX PX ttl`.
#[async_trait]
pub trait UsedStateStore: Send + Sync + 'static {
    /// Stores the id of a state that a caller uses, for at least `ttl`. Returns false if it is stored already. Check
    /// and write must be atomic.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] when the id was not stored. The call then fails.
    async fn insert(&self, caller: &CallerKey, id: &str, ttl: Duration)
    -> Result<bool, StoreError>;
}

/// A store in the memory of this process. Clones share the states.
///
/// It has at most 100,000 states, and 10,000 of one caller. When it is full, further ones fail until others have
/// expired.
#[derive(Debug, Clone)]
pub struct MemoryUsedStates {
    used: Arc<Mutex<UsedStates>>,
    clock: fn() -> Instant,
}

/// States of all callers.
const MAX_STATES: usize = 100_000;
/// States of one caller.
const MAX_OF_CALLER: usize = 10_000;

#[derive(Debug, Default)]
struct UsedStates {
    by_id: HashMap<Arc<str>, CallerKey>,
    by_expiry: BTreeSet<(Instant, Arc<str>)>,
    /// The number of states per caller.
    callers: HashMap<CallerKey, usize>,
}

impl MemoryUsedStates {
    /// Sets the clock. Default: [`Instant::now`].
    #[cfg(test)]
    pub(crate) fn clock(mut self, clock: fn() -> Instant) -> Self {
        self.clock = clock;
        self
    }
}

impl Default for MemoryUsedStates {
    fn default() -> Self {
        Self {
            used: Arc::default(),
            clock: Instant::now,
        }
    }
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

    fn insert(&mut self, caller: &CallerKey, id: &str, until: Instant) -> Result<bool, StoreError> {
        if self.by_id.contains_key(id) {
            return Ok(false);
        }
        let of_caller = self.callers.get(caller).copied().unwrap_or_default();
        if self.by_id.len() >= MAX_STATES || of_caller >= MAX_OF_CALLER {
            return Err(StoreError::new("too many request states are used"));
        }
        let id: Arc<str> = id.into();
        self.by_expiry.insert((until, id.clone()));
        self.by_id.insert(id, caller.clone());
        *self.callers.entry(caller.clone()).or_default() += 1;
        Ok(true)
    }
}

#[async_trait]
impl UsedStateStore for MemoryUsedStates {
    async fn insert(
        &self,
        caller: &CallerKey,
        id: &str,
        ttl: Duration,
    ) -> Result<bool, StoreError> {
        let now = (self.clock)();
        let mut used = self.used.lock();
        used.expire(now);
        used.insert(caller, id, now + finite(ttl))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::{Duration, Instant};

    use futures::executor::block_on;

    use super::{MAX_OF_CALLER, MemoryUsedStates, UsedStateStore as _};
    use crate::{CallerKey, Principal};

    static SECONDS: AtomicU64 = AtomicU64::new(0);

    fn clock() -> Instant {
        static START: OnceLock<Instant> = OnceLock::new();
        *START.get_or_init(Instant::now) + Duration::from_secs(SECONDS.load(Ordering::Relaxed))
    }

    #[test]
    fn state_is_used_once_until_it_expires_within_the_limit_of_its_caller() {
        let store = MemoryUsedStates::default().clock(clock);
        let (ada, bob) = (Principal::new("i", "ada"), Principal::new("i", "bob"));
        let (ada, bob) = (CallerKey::new(Some(&ada)), CallerKey::new(Some(&bob)));
        let ttl = Duration::from_secs(10);
        let insert = |caller: &CallerKey, id: &str| block_on(store.insert(caller, id, ttl));
        assert!(insert(&ada, "0").unwrap());
        assert!(!insert(&ada, "0").unwrap());
        for number in 1..MAX_OF_CALLER {
            assert!(insert(&ada, &number.to_string()).unwrap());
        }
        assert!(insert(&ada, "more").is_err());
        assert!(!insert(&ada, "0").unwrap(), "a known state stays known");
        assert!(insert(&bob, "more").unwrap());
        SECONDS.store(10, Ordering::Relaxed);
        assert!(insert(&ada, "0").unwrap());
        let used = store.used.lock();
        assert_eq!((used.by_id.len(), used.by_expiry.len()), (1, 1));
        assert_eq!(used.callers.len(), 1);
    }
}

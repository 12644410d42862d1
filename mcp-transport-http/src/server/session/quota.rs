//! Limits for the number of sessions.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use mcp_core::Principal;
use parking_lot::Mutex;

use super::super::config::Sessions;

/// Number of sessions of an endpoint, in total and per principal.
#[derive(Default)]
pub(super) struct SessionQuota(Arc<Mutex<Counts>>);

/// Open sessions and sessions that are being opened.
#[derive(Default)]
struct Counts {
    total: usize,
    by_principal: HashMap<PrincipalKey, usize>,
}

/// Issuer and subject.
type PrincipalKey = (String, String);

/// Error: a limit is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum QuotaExceeded {
    #[error("this server has as many sessions as it may; come back later")]
    Total,
    #[error("you have as many sessions as you may; end one, or come back later")]
    Principal,
}

impl SessionQuota {
    /// Reserves a session before any other work is done for it. A session cannot be created without a
    /// permit, so concurrent requests cannot exceed the limits.
    ///
    /// # Errors
    ///
    /// Returns [`QuotaExceeded`] when a limit is reached.
    // spec: SESS-13
    pub(super) fn reserve(
        &self,
        limits: &Sessions,
        principal: Option<&Principal>,
    ) -> Result<SessionPermit, QuotaExceeded> {
        let mut counts = self.0.lock();
        if counts.total >= limits.max {
            return Err(QuotaExceeded::Total);
        }
        let key = principal.map(|it| (it.issuer.clone(), it.subject.clone()));
        if let Some(key) = &key {
            let count = counts.by_principal.get(key).copied().unwrap_or(0);
            if count >= limits.max_per_principal {
                return Err(QuotaExceeded::Principal);
            }
            counts.by_principal.insert(key.clone(), count + 1);
        }
        counts.total += 1;
        Ok(SessionPermit {
            counts: Arc::clone(&self.0),
            key: key.map(Box::new),
        })
    }
}

/// Permission for one session. Dropping it makes room for another session.
pub(in crate::server) struct SessionPermit {
    counts: Arc<Mutex<Counts>>,
    key: Option<Box<PrincipalKey>>,
}

impl Drop for SessionPermit {
    fn drop(&mut self) {
        let mut counts = self.counts.lock();
        counts.total = counts.total.saturating_sub(1);
        if let Some(key) = self.key.take()
            && let Entry::Occupied(mut count) = counts.by_principal.entry(*key)
        {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }
}

//! How many sessions there are, and how many there may be.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use mcp_core::Principal;
use parking_lot::Mutex;

use super::super::sessions::Sessions;

/// The places of an endpoint's sessions.
#[derive(Default)]
pub(super) struct Slots(Arc<Mutex<Counts>>);

/// Sessions, and those that are being opened.
#[derive(Default)]
struct Counts {
    all: usize,
    by_owner: HashMap<Owner, usize>,
}

/// Issuer and subject.
type Owner = (String, String);

/// There is no room for another session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Full {
    #[error("this server has as many sessions as it may; come back later")]
    Total,
    #[error("you have as many sessions as you may; end one, or come back later")]
    OfPrincipal,
}

impl Slots {
    /// Reserves the place of a session before anything else is done for it. Only who holds a slot
    /// can make a session, so however many clients come at once, there are never more.
    // spec: SESS-13
    pub(super) fn reserve(
        &self,
        limits: &Sessions,
        principal: Option<&Principal>,
    ) -> Result<Slot, Full> {
        let mut counts = self.0.lock();
        if counts.all >= limits.max {
            return Err(Full::Total);
        }
        let owner = principal.map(|it| (it.issuer.clone(), it.subject.clone()));
        if let Some(owner) = &owner {
            let of_owner = counts.by_owner.get(owner).copied().unwrap_or(0);
            if of_owner >= limits.max_per_principal {
                return Err(Full::OfPrincipal);
            }
            counts.by_owner.insert(owner.clone(), of_owner + 1);
        }
        counts.all += 1;
        Ok(Slot {
            counts: Arc::clone(&self.0),
            owner: owner.map(Box::new),
        })
    }
}

/// The place of a session in the counts. Whoever drops it gives it back.
pub(super) struct Slot {
    counts: Arc<Mutex<Counts>>,
    owner: Option<Box<Owner>>,
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut counts = self.counts.lock();
        counts.all = counts.all.saturating_sub(1);
        if let Some(owner) = self.owner.take()
            && let Entry::Occupied(mut count) = counts.by_owner.entry(*owner)
        {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }
}

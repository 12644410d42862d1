//! [`Parked`]: calls between two requests of their client.
//!
//! Since 2026-07-28 a client answers a question with another request. A legacy server waits for the answer meanwhile, so
//! the gateway parks its call between the two requests.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use mcp_core::{CallerKey, Fault};
use parking_lot::Mutex;
use tokio::time::sleep;
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

use crate::limits::quota::{Owner, RETRY};

/// Time that a client has for its answer.
const LIFETIME: Duration = Duration::from_secs(300);

/// Calls of one gateway that wait at the same time.
const MAX_CALLS: usize = 1024;
/// Those of one owner.
const MAX_OF_OWNER: usize = 256;

/// The calls of a gateway that wait for the next requests of their clients. The gateway makes it when it starts; each call
/// that asks such a client is in it until its client answers, or its time has passed.
#[derive(Clone, Default)]
pub(crate) struct Parked(Arc<ParkedCalls>);

type ParkedCalls = Mutex<HashMap<Uuid, ParkedCall>>;

struct ParkedCall {
    owner: Owner,
    call: Box<dyn Any + Send>,
    /// Removes the call when its time has passed.
    _expiry: AbortOnDropHandle<()>,
}

impl Parked {
    /// Parks a call. Returns its id.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::RateLimited`] when too many calls of the owner wait, and [`Fault::Overloaded`] when too many
    /// of all owners do.
    pub(super) fn park<T: Send + 'static>(&self, owner: Owner, call: T) -> Result<Uuid, Fault> {
        let mut calls = self.0.lock();
        let own = calls.values().filter(|call| call.owner == owner).count();
        if own >= MAX_OF_OWNER {
            let message = "too many calls of this caller wait for an answer";
            return Err(Fault::rate_limited(message, RETRY));
        }
        if calls.len() >= MAX_CALLS {
            let message = "too many calls of this gateway wait for an answer";
            return Err(Fault::overloaded(message, RETRY));
        }
        let id = Uuid::new_v4();
        let parked: Weak<ParkedCalls> = Arc::downgrade(&self.0);
        let expiry = tokio::spawn(async move {
            sleep(LIFETIME).await;
            // Dropped without the lock, because the call may end others.
            let expired = parked.upgrade().and_then(|calls| calls.lock().remove(&id));
            drop(expired);
        });
        let parked = ParkedCall {
            owner,
            call: Box::new(call),
            _expiry: AbortOnDropHandle::new(expiry),
        };
        calls.insert(id, parked);
        Ok(id)
    }

    /// Takes a call of a caller, unless its time has passed or another node has it.
    pub(super) fn take<T: 'static>(&self, caller: &CallerKey, id: Uuid) -> Option<T> {
        let mut calls = self.0.lock();
        let parked = calls.get(&id);
        let is_wanted =
            parked.is_some_and(|call| call.owner.caller == *caller && call.call.is::<T>());
        let parked = is_wanted.then(|| calls.remove(&id)).flatten()?;
        drop(calls);
        parked.call.downcast().ok().map(|call| *call)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mcp_core::{CallerKey, Fault};

    use super::{LIFETIME, MAX_CALLS, MAX_OF_OWNER, Parked};
    use crate::limits::quota::Owner;
    use crate::limits::quota::tests::{address, principal};

    #[tokio::test(start_paused = true)]
    async fn parked_call_is_taken_once_by_its_caller_and_its_type() {
        let (parked, ada) = (Parked::default(), principal("ada"));
        let id = parked.park(ada.clone(), "call").unwrap();
        assert_eq!(parked.take::<u8>(&ada.caller, id), None);
        for other in [principal("bob"), Owner::default()] {
            assert_eq!(parked.take::<&str>(&other.caller, id), None);
        }
        assert_eq!(parked.take::<&str>(&ada.caller, id), Some("call"));
        assert_eq!(parked.take::<&str>(&ada.caller, id), None);

        // The address of an anonymous client may change.
        let id = parked.park(address("203.0.113.7"), "call").unwrap();
        assert_eq!(parked.take(&CallerKey::default(), id), Some("call"));
    }

    #[tokio::test(start_paused = true)]
    async fn parked_call_is_dropped_after_its_time() {
        let (parked, call) = (Parked::default(), Arc::new(()));
        parked.park(Owner::default(), call.clone()).unwrap();
        assert_eq!(Arc::strong_count(&call), 2);
        tokio::time::sleep(LIFETIME * 2).await;
        assert_eq!(Arc::strong_count(&call), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn call_beyond_the_limit_is_refused() {
        let parked = Parked::default();
        let park = |name: &str| parked.park(principal(name), ());
        for number in 0..MAX_CALLS {
            let name = (number / MAX_OF_OWNER).to_string();
            park(&name).unwrap();
        }
        let refused = park("ada").err().unwrap();
        assert!(matches!(refused, Fault::Overloaded { .. }), "{refused}");
    }

    #[tokio::test(start_paused = true)]
    async fn calls_by_one_owner_leave_room_for_others() {
        for (owner, other) in [
            (principal("ada"), principal("bob")),
            (address("203.0.113.7"), address("203.0.113.8")),
        ] {
            let parked = Parked::default();
            for _ in 0..MAX_OF_OWNER {
                parked.park(owner.clone(), ()).unwrap();
            }
            let refused = parked.park(owner, ()).err().unwrap();
            assert!(matches!(refused, Fault::RateLimited { .. }), "{refused}");
            assert!(parked.park(other, ()).is_ok());
        }
    }
}

//! Calls parked between two requests of their client.
//!
//! Since 2026-07-28 a client answers a question with another request. A legacy server waits for the answer
//! meanwhile, so the gateway keeps its call.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use mcp_core::{CallerKey, Fault};
use parking_lot::Mutex;
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

use super::quota::{Owner, RETRY};

/// Time that a client has for its answer.
const LIFETIME: Duration = Duration::from_secs(300);

/// Calls of one gateway that wait at the same time.
const MAX_CALLS: usize = 1024;
/// Those of one owner.
const MAX_OF_OWNER: usize = 256;

/// The waiting calls of a gateway.
#[derive(Clone, Default)]
pub(super) struct Parked(Arc<ParkedCalls>);

#[derive(Default)]
struct ParkedCalls(Mutex<HashMap<Uuid, ParkedCall>>);

struct ParkedCall {
    owner: Owner,
    call: Box<dyn Any + Send>,
    /// Removes the call when its time has passed.
    _expiry: AbortOnDropHandle<()>,
}

impl Parked {
    /// Returns the guard of a call, which parks the call when it is dropped.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::RateLimited`] when too many calls of the owner wait, and [`Fault::Overloaded`] when too many
    /// of all owners do.
    pub(super) fn guard<T: Send + 'static>(
        &self,
        owner: Owner,
        call: T,
    ) -> Result<ParkGuard<T>, Fault> {
        let calls = self.0.0.lock();
        let own = calls.values().filter(|call| call.owner == owner).count();
        let all = calls.len();
        drop(calls);
        if own >= MAX_OF_OWNER {
            let message = "too many calls of this caller wait for an answer";
            return Err(Fault::rate_limited(message, RETRY));
        }
        if all >= MAX_CALLS {
            let message = "too many calls of this gateway wait for an answer";
            return Err(Fault::overloaded(message, RETRY));
        }
        Ok(ParkGuard {
            parked: self.clone(),
            owner,
            id: Uuid::new_v4(),
            call: Some(call),
        })
    }

    /// Takes a call of a caller, unless its time has passed or another node has it.
    pub(super) fn take<T: 'static>(&self, caller: &CallerKey, id: Uuid) -> Option<T> {
        let mut calls = self.0.0.lock();
        let parked = calls.get(&id);
        let is_wanted =
            parked.is_some_and(|call| call.owner.caller() == caller && call.call.is::<T>());
        let parked = is_wanted.then(|| calls.remove(&id)).flatten()?;
        drop(calls);
        parked.call.downcast().ok().map(|call| *call)
    }

    fn insert(&self, owner: Owner, id: Uuid, call: Box<dyn Any + Send>) {
        // Without a runtime the program ends, and the call with it.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        let calls: Weak<ParkedCalls> = Arc::downgrade(&self.0);
        let expiry = runtime.spawn(async move {
            tokio::time::sleep(LIFETIME).await;
            // Dropped without the lock, because the call may end others.
            let expired = calls.upgrade().and_then(|calls| calls.0.lock().remove(&id));
            drop(expired);
        });
        let _expiry = AbortOnDropHandle::new(expiry);
        let parked = ParkedCall {
            owner,
            call,
            _expiry,
        };
        self.0.0.lock().insert(id, parked);
    }
}

/// A call that is parked when this is dropped.
pub(super) struct ParkGuard<T: Send + 'static> {
    parked: Parked,
    owner: Owner,
    id: Uuid,
    call: Option<T>,
}

impl<T: Send + 'static> ParkGuard<T> {
    pub(super) fn id(&self) -> Uuid {
        self.id
    }

    /// Returns the call, which is not parked then.
    pub(super) fn into_call(mut self) -> Option<T> {
        self.call.take()
    }
}

impl<T: Send + 'static> Drop for ParkGuard<T> {
    fn drop(&mut self) {
        if let Some(call) = self.call.take() {
            let owner = std::mem::take(&mut self.owner);
            self.parked.insert(owner, self.id, Box::new(call));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mcp_core::{CallerKey, Fault};

    use super::super::quota::Owner;
    use super::super::quota::tests::{address, principal};
    use super::{LIFETIME, MAX_CALLS, MAX_OF_OWNER, Parked};

    #[tokio::test(start_paused = true)]
    async fn parked_call_is_taken_once_by_its_caller_and_its_type() {
        let (parked, ada) = (Parked::default(), principal("ada"));
        let guard = parked.guard(ada.clone(), "call").unwrap();
        let id = guard.id();
        drop(guard);
        assert_eq!(parked.take::<u8>(ada.caller(), id), None);
        for other in [principal("bob"), Owner::default()] {
            assert_eq!(parked.take::<&str>(other.caller(), id), None);
        }
        assert_eq!(parked.take::<&str>(ada.caller(), id), Some("call"));
        assert_eq!(parked.take::<&str>(ada.caller(), id), None);

        let guard = parked.guard(ada.clone(), "call").unwrap();
        let id = guard.id();
        assert_eq!(guard.into_call(), Some("call"));
        assert_eq!(parked.take::<&str>(ada.caller(), id), None);

        // The address of an anonymous client may change.
        let guard = parked.guard(address("203.0.113.7"), "call").unwrap();
        let id = guard.id();
        drop(guard);
        assert_eq!(parked.take(&CallerKey::default(), id), Some("call"));
    }

    #[tokio::test(start_paused = true)]
    async fn parked_call_is_dropped_after_its_time() {
        let (parked, call) = (Parked::default(), Arc::new(()));
        drop(parked.guard(Owner::default(), call.clone()).unwrap());
        assert_eq!(Arc::strong_count(&call), 2);
        tokio::time::sleep(LIFETIME * 2).await;
        assert_eq!(Arc::strong_count(&call), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn call_beyond_the_limit_is_refused() {
        let parked = Parked::default();
        let guard = |name: &str| parked.guard(principal(name), ());
        for number in 0..MAX_CALLS {
            let name = (number / MAX_OF_OWNER).to_string();
            drop(guard(&name).unwrap());
        }
        let refused = guard("ada").err().unwrap();
        assert!(matches!(refused, Fault::Overloaded { .. }), "{refused}");
    }

    #[tokio::test(start_paused = true)]
    async fn calls_of_one_owner_leave_room_for_others() {
        for (owner, other) in [
            (principal("ada"), principal("bob")),
            (address("203.0.113.7"), address("203.0.113.8")),
        ] {
            let parked = Parked::default();
            for _ in 0..MAX_OF_OWNER {
                drop(parked.guard(owner.clone(), ()).unwrap());
            }
            let refused = parked.guard(owner, ()).err().unwrap();
            assert!(matches!(refused, Fault::RateLimited { .. }), "{refused}");
            assert!(parked.guard(other, ()).is_ok());
        }
    }
}

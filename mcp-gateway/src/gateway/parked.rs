//! ParkedCalls that wait for their client between two requests.
//!
//! Since 2026-07-28 a client answers a question with another request. A legacy server waits for the answer
//! meanwhile, so the gateway keeps its call.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use mcp_core::Fault;
use parking_lot::Mutex;
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

/// Time that a client has for its answer.
const LIFETIME: Duration = Duration::from_secs(300);

/// ParkedCalls of one gateway that wait at the same time.
const MAX_CALLS: usize = 1024;

/// The waiting calls of a gateway.
#[derive(Clone, Default)]
pub(super) struct Parked(Arc<ParkedCalls>);

#[derive(Default)]
struct ParkedCalls(Mutex<HashMap<Uuid, ParkedCall>>);

struct ParkedCall {
    call: Box<dyn Any + Send>,
    /// Removes the call when its time has passed.
    _expiry: AbortOnDropHandle<()>,
}

impl Parked {
    /// Returns the guard of a call, which parks the call when it is dropped.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::Refused`] when too many calls wait.
    pub(super) fn guard<T: Send + 'static>(&self, call: T) -> Result<ParkGuard<T>, Fault> {
        if self.0.0.lock().len() >= MAX_CALLS {
            return Err(Fault::Refused(
                "too many calls of this gateway wait for an answer; try again later".into(),
            ));
        }
        Ok(ParkGuard {
            parked: self.clone(),
            id: Uuid::new_v4(),
            call: Some(call),
        })
    }

    /// Takes a call, unless its time has passed or another node has it.
    pub(super) fn take<T: 'static>(&self, id: Uuid) -> Option<T> {
        let mut calls = self.0.0.lock();
        let is_wanted = calls.get(&id).is_some_and(|parked| parked.call.is::<T>());
        let parked = is_wanted.then(|| calls.remove(&id)).flatten()?;
        drop(calls);
        parked.call.downcast().ok().map(|call| *call)
    }

    fn insert(&self, id: Uuid, call: Box<dyn Any + Send>) {
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
        self.0.0.lock().insert(id, ParkedCall { call, _expiry });
    }
}

/// A call that is parked when this is dropped.
pub(super) struct ParkGuard<T: Send + 'static> {
    parked: Parked,
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
            self.parked.insert(self.id, Box::new(call));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{LIFETIME, MAX_CALLS, Parked};

    #[tokio::test(start_paused = true)]
    async fn parked_call_is_taken_once_and_by_its_type() {
        let parked = Parked::default();
        let guard = parked.guard("call").unwrap();
        let id = guard.id();
        drop(guard);
        assert_eq!(parked.take::<u8>(id), None);
        assert_eq!(parked.take::<&str>(id), Some("call"));
        assert_eq!(parked.take::<&str>(id), None);

        let guard = parked.guard("call").unwrap();
        let id = guard.id();
        assert_eq!(guard.into_call(), Some("call"));
        assert_eq!(parked.take::<&str>(id), None);
    }

    #[tokio::test(start_paused = true)]
    async fn parked_call_is_dropped_after_its_time() {
        let (parked, call) = (Parked::default(), Arc::new(()));
        drop(parked.guard(call.clone()).unwrap());
        assert_eq!(Arc::strong_count(&call), 2);
        tokio::time::sleep(LIFETIME * 2).await;
        assert_eq!(Arc::strong_count(&call), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn call_beyond_the_limit_is_refused() {
        let parked = Parked::default();
        for _ in 0..MAX_CALLS {
            drop(parked.guard(()).unwrap());
        }
        let refused = parked.guard(()).err().unwrap().to_string();
        assert!(refused.contains("too many calls"), "{refused}");
    }
}

//! Deletion of stored session events.

use std::sync::Arc;
use std::time::Duration;

use mcp_core::Backoff;
use mcp_core::store::EventStore;
use tokio::runtime::Handle;
use tokio::time::sleep;

use super::super::config::EventStorage;

/// Number of attempts to delete the events of a session.
const MAX_ATTEMPTS: usize = 5;
const FIRST_DELAY: Duration = Duration::from_secs(1);
const MAX_DELAY: Duration = Duration::from_secs(10);

/// Deletes the stored events of a session in a task, which repeats a deletion that failed. Events that
/// cannot be deleted expire in the store.
pub(in crate::server) fn delete_events(storage: &EventStorage, session: &Arc<str>) {
    if Handle::try_current().is_ok() {
        tokio::spawn(delete(storage.clone(), Arc::clone(session)));
    }
}

async fn delete(storage: EventStorage, session: Arc<str>) {
    if storage.store.forget(&session).await.is_ok() {
        return;
    }
    // While a store is not available, sessions end without limit.
    let Ok(_permit) = storage.retrying.try_acquire() else {
        return;
    };
    let mut backoff = Backoff::new(FIRST_DELAY, MAX_DELAY);
    for _ in 1..MAX_ATTEMPTS {
        sleep(backoff.next_delay()).await;
        if storage.store.forget(&session).await.is_ok() {
            return;
        }
    }
}

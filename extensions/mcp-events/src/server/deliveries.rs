//! This node's deliveries: one task for each subscription whose lease it holds.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::{Instant, sleep};
use tokio_util::task::AbortOnDropHandle;

use super::delivery;
use super::shared::Shared;
use super::webhooks::STORE_TIMEOUT;

/// The time for which a node delivers to a subscription without extending its lease.
const LEASE: Duration = Duration::from_secs(30);
/// The time between two extensions of the leases.
const INTERVAL: Duration = Duration::from_secs(10);
/// The subscriptions without a lease that a node claims at once, so that several nodes share them.
const CLAIMS: usize = 100;

/// Starts the deliveries of this node, once. Does nothing outside a tokio runtime.
pub(super) fn start(shared: &Arc<Shared>) {
    let Some(webhooks) = shared.webhooks.get() else {
        return;
    };
    let Ok(runtime) = Handle::try_current() else {
        return;
    };
    if !webhooks.is_started.swap(true, Ordering::Relaxed) {
        runtime.spawn(supervise(Arc::downgrade(shared)));
    }
}

/// Extends the leases, and starts and stops tasks, until the server is dropped.
async fn supervise(shared: Weak<Shared>) {
    let mut running = Running::default();
    let mut lease_ends = Instant::now();
    loop {
        let Some(strong) = shared.upgrade() else {
            return;
        };
        let Some(webhooks) = strong.webhooks.get() else {
            return;
        };
        let start = Instant::now();
        // When the store has failed for so long, other nodes may hold the leases soon.
        if lease_ends <= start + STORE_TIMEOUT {
            running.clear();
        }
        let claim = webhooks.store.claim(&webhooks.node, LEASE, CLAIMS);
        match webhooks.timed(claim).await {
            Ok(ids) => {
                lease_ends = start + LEASE;
                update(&mut running, &shared, ids);
            }
            Err(error) => {
                tracing::error!(error = %mcp_types::escaped(&error), "the leases of webhooks cannot be extended")
            }
        }
        let changed = webhooks.changed.clone();
        drop(strong);
        tokio::select! {
            () = changed.notified() => {}
            () = sleep(INTERVAL) => {}
        }
    }
}

/// The running tasks. They end with this value.
type Running = HashMap<String, AbortOnDropHandle<()>>;

/// Stops the tasks of other subscriptions, and starts those that are missing.
fn update(running: &mut Running, shared: &Weak<Shared>, ids: Vec<String>) {
    let ids: HashSet<String> = ids.into_iter().collect();
    running.retain(|id, task| ids.contains(id) && !task.is_finished());
    for id in ids {
        running.entry(id).or_insert_with_key(|id| {
            let run = delivery::run(shared.clone(), id.clone());
            AbortOnDropHandle::new(tokio::spawn(run))
        });
    }
}

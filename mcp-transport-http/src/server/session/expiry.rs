//! The task that ends sessions and requests to clients at their deadlines.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::super::config::Sessions;
use super::store;
use super::table::SessionTable;

/// Starts the task. There is one task for all sessions, and it ends when there are none.
pub(super) fn start(table: &Arc<SessionTable>, settings: &Sessions) {
    tokio::spawn(run(Arc::downgrade(table), check_interval(settings)));
}

/// Returns the time between two checks. No deadline that is set after a check is earlier than the
/// next check.
fn check_interval(settings: &Sessions) -> Duration {
    const MIN_INTERVAL: Duration = Duration::from_millis(10);

    settings
        .save_interval()
        .min(settings.init_timeout)
        .min(settings.limits.response_timeout)
        .max(MIN_INTERVAL)
}

async fn run(table: Weak<SessionTable>, interval: Duration) {
    let mut next_check = Instant::now() + interval;
    loop {
        sleep_until(next_check).await;
        // Between two checks the task does not keep the endpoint alive.
        let Some(table) = table.upgrade() else {
            return;
        };
        let now = Instant::now();
        next_check = now + interval;
        for session in table.all() {
            session.protocol.expire_requests();
            if let Some(deadline) = session.protocol.next_deadline() {
                next_check = next_check.min(deadline.into());
            }
            match session.deadline() {
                Some((deadline, reason)) if deadline <= now => table.end(&session.id, reason),
                Some((deadline, _)) => next_check = next_check.min(deadline),
                // The session is in use. Saving it again prevents that it expires in the store. A
                // store that fails is used again at the next check.
                None if session.is_saved() => drop(store::save(&session).await),
                None => {}
            }
        }
        if table.end_expiry_task() {
            return;
        }
    }
}

//! Ends sessions whose time is up, and gives up questions that have waited too long.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::super::sessions::Sessions;
use super::saved;
use super::table::Table;
use crate::task;

/// Walks about as long as there are sessions: one task for all of them.
pub(super) fn start(table: &Arc<Table>, sessions: &Sessions) {
    let pause = longest_pause(sessions);
    task::spawn(walk(Arc::downgrade(table), pause));
}

/// Whatever begins after a walk is not due earlier than this after it.
fn longest_pause(sessions: &Sessions) -> Duration {
    const NOT_ALL_THE_TIME: Duration = Duration::from_millis(10);
    sessions
        .save_pause()
        .min(sessions.init_timeout)
        .min(sessions.limits.response_timeout)
        .max(NOT_ALL_THE_TIME)
}

async fn walk(table: Weak<Table>, pause: Duration) {
    let mut next = Instant::now() + pause;
    loop {
        sleep_until(next).await;
        // Between two walks the task does not hold on to the endpoint.
        let Some(table) = table.upgrade() else {
            return;
        };
        let now = Instant::now();
        next = now + pause;
        for live in table.all() {
            live.machine.expire_requests();
            if let Some(due) = live.machine.next_deadline() {
                next = next.min(due.into());
            }
            match live.deadline() {
                Some((due, reason)) if due <= now => table.end(&live.id, reason),
                Some((due, _)) => next = next.min(due),
                // It is in use, which those who share it cannot see.
                None if live.is_shared() => drop(saved::save(&live).await),
                None => {}
            }
        }
        if table.let_reaper_go() {
            return;
        }
    }
}

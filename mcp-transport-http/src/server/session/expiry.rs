//! The task that ends sessions and requests to clients at their deadlines.
//!
//! The task has to survive everything that user code does: hooks and stores are guarded, a store that
//! hangs delays no deadline, and when the task ends with its runtime, the next session starts another
//! one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::{StreamExt, stream};
use mcp_core::catch_panic_sync;
use mcp_core::deadline::finite;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use super::super::config::Sessions;
use super::http_session::HttpSession;
use super::store;
use super::table::SessionTable;

/// Number of the session store's concurrent operations.
const CONCURRENT_SAVES: usize = 8;

/// Starts the task. There is one task for all sessions, and it ends when there are none.
pub(super) fn start(table: &Arc<SessionTable>, settings: &Sessions) {
    let task = ExpiryTask(Arc::downgrade(table));
    tokio::spawn(task.run(check_interval(settings)));
}

/// Returns the time between two checks. No deadline that is set after a check is earlier than the
/// next check.
fn check_interval(settings: &Sessions) -> Duration {
    const MIN_INTERVAL: Duration = Duration::from_millis(10);

    let interval = settings
        .save_interval()
        .min(settings.init_timeout)
        .min(settings.limits.response_timeout)
        .max(MIN_INTERVAL);
    finite(interval)
}

/// The running task. When it is dropped before its regular end, the next session starts another one.
struct ExpiryTask(Weak<SessionTable>);

impl ExpiryTask {
    async fn run(mut self, interval: Duration) {
        let mut saving = JoinSet::new();
        let mut next_check = Instant::now() + interval;
        loop {
            sleep_until(next_check).await;
            // Between two checks the task does not keep the endpoint alive.
            let Some(table) = self.0.upgrade() else {
                return;
            };
            let mut check = ExpiryCheck::new(interval);
            for session in table.all() {
                if let Err(panic) = catch_panic_sync(|| check.check_session(&table, session)) {
                    tracing::error!(panic = %mcp_types::escaped(&panic), "a session was not checked");
                }
            }
            next_check = check.next;
            while saving.try_join_next().is_some() {}
            // Saving is a task of its own, because a store may be slow.
            if saving.is_empty() && !check.in_use.is_empty() {
                saving.spawn(save_all(Arc::downgrade(&table), check.in_use));
            }
            if table.end_expiry_task() {
                self.0 = Weak::new();
                return;
            }
        }
    }
}

impl Drop for ExpiryTask {
    fn drop(&mut self) {
        if let Some(table) = self.0.upgrade() {
            table.expiry_task_dropped();
        }
    }
}

/// One check of all sessions.
struct ExpiryCheck {
    now: Instant,
    /// Time of the next check.
    next: Instant,
    /// Sessions in use that have to be saved, so that they do not expire in the session store.
    in_use: Vec<Arc<HttpSession>>,
}

impl ExpiryCheck {
    fn new(interval: Duration) -> Self {
        let now = Instant::now();
        Self {
            now,
            next: now + interval,
            in_use: Vec::new(),
        }
    }

    fn check_session(&mut self, table: &SessionTable, session: Arc<HttpSession>) {
        session.protocol.expire_requests();
        if let Some(deadline) = session.protocol.next_deadline() {
            self.next = self.next.min(deadline.into());
        }
        match session.deadline() {
            Some((deadline, reason)) if deadline <= self.now => table.end(&session.id, reason),
            Some((deadline, _)) => self.next = self.next.min(deadline),
            None if session.unsaved().is_some() => self.in_use.push(session),
            None => {}
        }
    }
}

/// Saves sessions. After the first failure the others wait for the next check.
async fn save_all(table: Weak<SessionTable>, sessions: Vec<Arc<HttpSession>>) {
    let has_failed = AtomicBool::new(false);
    let save = async |session: Arc<HttpSession>| {
        if has_failed.load(Ordering::Relaxed) {
            return;
        }
        let Some(table) = table.upgrade() else {
            return;
        };
        let saved = store::refresh(&table, &session).await;
        if saved.is_err() && !session.is_ended() {
            has_failed.store(true, Ordering::Relaxed);
        }
    };
    stream::iter(sessions)
        .for_each_concurrent(CONCURRENT_SAVES, save)
        .await;
}

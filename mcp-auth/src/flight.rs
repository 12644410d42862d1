//! One task for many callers that need the same result.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::Shared;
use mcp_core::BoxFuture;
use parking_lot::Mutex;

use crate::error::AuthError;

type Outcome = Result<(), AuthError>;
type Running = Shared<BoxFuture<'static, Outcome>>;

/// At most one running task. It continues when its callers are dropped.
#[derive(Clone, Default)]
pub(crate) struct Flight(Arc<Mutex<Option<Running>>>);

impl Flight {
    /// Joins the running task, or starts `work`. Does neither when `is_done` returns true.
    pub(crate) async fn run(
        &self,
        is_done: impl FnOnce() -> bool,
        work: impl FnOnce() -> BoxFuture<'static, Outcome>,
    ) -> Outcome {
        let running = {
            let mut slot = self.0.lock();
            match &*slot {
                Some(running) => running.clone(),
                None if is_done() => return Ok(()),
                None => {
                    let running = self.spawn(work());
                    *slot = Some(running.clone());
                    running
                }
            }
        };
        running.await
    }

    /// Waits for the running task. Returns its outcome, or `None` when nothing runs.
    pub(crate) async fn wait(&self) -> Option<Outcome> {
        let running = self.0.lock().clone()?;
        Some(running.await)
    }

    fn spawn(&self, work: BoxFuture<'static, Outcome>) -> Running {
        let finished = Finished(self.clone());
        let task = tokio::spawn(async move {
            let _finished = finished;
            work.await
        });
        let outcome = task.map(|joined| joined.unwrap_or(Err(AuthError::Interrupted)));
        outcome.boxed().shared()
    }
}

/// Empties the slot when the task ends, even by a panic.
struct Finished(Flight);

impl Drop for Finished {
    fn drop(&mut self) {
        *self.0.0.lock() = None;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[tokio::test]
    async fn callers_share_one_task_that_survives_them() {
        let flight = Flight::default();
        let runs = Arc::new(AtomicU32::new(0));
        let start = |flight: Flight| {
            let runs = Arc::clone(&runs);
            async move {
                let work = async move {
                    tokio::task::yield_now().await;
                    runs.fetch_add(1, Ordering::SeqCst);
                    Ok(())
                };
                flight.run(|| false, || Box::pin(work)).await
            }
        };
        let all = futures_util::future::join_all((0..50).map(|_| start(flight.clone())));
        assert!(all.await.iter().all(Result::is_ok));
        assert_eq!(runs.load(Ordering::SeqCst), 1);

        let dropped = tokio::time::timeout(std::time::Duration::ZERO, start(flight.clone()));
        let _ = dropped.await;
        while flight.wait().await.is_some() {}
        assert_eq!(runs.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn panic_ends_the_task_only() {
        let flight = Flight::default();
        let panics: BoxFuture<'static, Outcome> = Box::pin(async { panic!("test") });
        let outcome = flight.run(|| false, || panics).await;
        assert!(matches!(outcome, Err(AuthError::Interrupted)));
        let outcome = flight
            .run(|| true, || Box::pin(std::future::pending()))
            .await;
        assert!(outcome.is_ok());
    }
}

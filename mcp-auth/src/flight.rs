//! One task for many callers that need the same result.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::Shared;
use mcp_core::BoxFuture;
use parking_lot::Mutex;

use crate::error::AuthError;

type Running<T> = Shared<BoxFuture<'static, Result<T, AuthError>>>;

/// At most one running task. It continues when its callers are dropped.
#[derive(Clone)]
pub(crate) struct Flight<T = ()>(Arc<Mutex<Option<Running<T>>>>);

impl<T> Default for Flight<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T: Clone + Send + Sync + 'static> Flight<T> {
    /// Joins the running task, or starts `work`. Does neither when `known` returns the result.
    pub(crate) async fn run<W>(
        &self,
        known: impl FnOnce() -> Option<T>,
        work: impl FnOnce() -> W,
    ) -> Result<T, AuthError>
    where
        W: Future<Output = Result<T, AuthError>> + Send + 'static,
    {
        let running = {
            let mut slot = self.0.lock();
            if let Some(running) = &*slot {
                running.clone()
            } else {
                if let Some(result) = known() {
                    return Ok(result);
                }
                slot.insert(self.spawn(work())).clone()
            }
        };
        running.await
    }

    /// Waits for the running task. Returns its outcome, or `None` when nothing runs.
    pub(crate) async fn wait(&self) -> Option<Result<T, AuthError>> {
        let running = self.0.lock().clone()?;
        Some(running.await)
    }

    fn spawn(
        &self,
        work: impl Future<Output = Result<T, AuthError>> + Send + 'static,
    ) -> Running<T> {
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
struct Finished<T>(Flight<T>);

impl<T> Drop for Finished<T> {
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
                flight.run(|| None, || work).await
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
        let panics = || async { panic!("test") };
        let outcome = flight.run(|| None, panics).await;
        assert!(matches!(outcome, Err(AuthError::Interrupted)));
        let outcome = flight.run(|| Some(()), std::future::pending).await;
        assert!(outcome.is_ok());
    }
}

//! Guard around the user's stores: a store that panics or hangs fails one operation, and its error
//! stays in the log.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcp_core::store::{EventStore, Replay, ReplayError, StoreError, StoredEvent, StreamId};
use mcp_core::{BoxFuture, catch_panic};
use tokio::time::timeout;

/// Default of the maximum time of one operation.
pub(super) const STORE_TIMEOUT: Duration = Duration::from_secs(5);

/// A store that did not answer in time.
#[derive(Debug, thiserror::Error)]
#[error("the store did not answer within {0:?}")]
struct StoreTimedOut(Duration);

/// A store that panicked.
#[derive(Debug, thiserror::Error)]
#[error("the store panicked")]
struct StorePanicked;

/// Runs one operation of a store for at most `limit`.
///
/// # Errors
///
/// Returns the operation's error, or a [`StoreError`] when it panics or takes too long. The error
/// is in the log already, with the operation's name. Do not send it to clients: it may contain
/// secrets.
///
/// The future is boxed, so that it does not enlarge each request's future, which often uses no store.
pub(super) fn guard<'a, T: 'a>(
    operation: &'static str,
    limit: Duration,
    call: impl Future<Output = Result<T, StoreError>> + Send + 'a,
) -> BoxFuture<'a, Result<T, StoreError>> {
    Box::pin(async move {
        let result = limited(limit, call).await;
        result.inspect_err(|error| log(operation, error))
    })
}

async fn limited<T, E: From<StoreError>>(
    limit: Duration,
    call: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    match timeout(limit, catch_panic(call)).await {
        Ok(Ok(result)) => result,
        Ok(Err(panic)) => {
            tracing::error!(panic = %mcp_types::escaped(&panic), "a store panicked");
            Err(StoreError::new(StorePanicked).into())
        }
        Err(_) => Err(StoreError::new(StoreTimedOut(limit)).into()),
    }
}

fn log(operation: &'static str, error: &StoreError) {
    tracing::error!(operation, error = %mcp_types::escaped(&error), "a store failed");
}

/// An event store with the guard around each operation.
#[derive(Clone)]
pub(super) struct GuardedEvents {
    pub(super) store: Arc<dyn EventStore>,
    pub(super) timeout: Duration,
}

#[async_trait]
impl EventStore for GuardedEvents {
    async fn append(&self, stream: StreamId<'_>, event: StoredEvent) -> Result<u64, StoreError> {
        let call = async move { self.store.append(stream, event).await };
        guard("append an event", self.timeout, call).await
    }

    async fn after(&self, stream: StreamId<'_>, after: Option<u64>) -> Result<Replay, ReplayError> {
        let call = async move { self.store.after(stream, after).await };
        let result = limited(self.timeout, call).await;
        if let Err(ReplayError::Store(error)) = &result {
            log("load events", error);
        }
        result
    }

    async fn forget(&self, session: &str) -> Result<(), StoreError> {
        let call = async move { self.store.forget(session).await };
        guard("forget events", self.timeout, call).await
    }
}

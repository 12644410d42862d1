//! Store latency.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use mcp_core::store::{
    EventStore, Replay, ReplayError, SessionRecord, SessionRelay, SessionStore, StoreError,
    StoredEvent, StreamId, TaskLimits, TaskRecord, TaskStore, TaskWrite,
};
use opentelemetry::KeyValue;
use opentelemetry::metrics::{Histogram, Meter};

use crate::error_type::OTHER;
use crate::instruments::{global_meter, histogram};

/// A store of events, sessions or tasks whose operations are recorded in the histogram
/// `mcp.sdk.store.operation.duration` (seconds), with the attributes `operation` and, after a failure,
/// `error.type`. Task watches are not measured.
///
/// # Examples
///
/// ```
/// use mcp::core::store::MemoryEventStore;
/// use mcp::telemetry::MeasuredStore;
///
/// let store = MeasuredStore::new(MemoryEventStore::new());
/// ```
#[derive(Debug)]
pub struct MeasuredStore<S> {
    store: S,
    duration: Histogram<f64>,
}

impl<S> MeasuredStore<S> {
    /// Measures a store with the global meter.
    pub fn new(store: S) -> Self {
        Self::with_meter(store, &global_meter())
    }

    /// Measures a store with `meter`.
    pub fn with_meter(store: S, meter: &Meter) -> Self {
        let name = "mcp.sdk.store.operation.duration";
        let duration = histogram(meter, name, "The duration of one operation of a store");
        Self { store, duration }
    }

    /// Runs an operation and records its duration. `is_failure` tells failures of the store from other
    /// errors.
    async fn measure_if<T, E>(
        &self,
        operation: &'static str,
        running: impl Future<Output = Result<T, E>>,
        is_failure: impl FnOnce(&E) -> bool,
    ) -> Result<T, E> {
        let start = Instant::now();
        let result = running.await;
        let seconds = start.elapsed().as_secs_f64();
        let operation = KeyValue::new("operation", operation);
        if result.as_ref().is_err_and(is_failure) {
            let failure = KeyValue::new("error.type", OTHER);
            self.duration.record(seconds, &[operation, failure]);
        } else {
            self.duration.record(seconds, &[operation])
        }
        result
    }

    /// Runs an operation whose errors are all failures of the store.
    async fn measure<T>(
        &self,
        operation: &'static str,
        running: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        self.measure_if(operation, running, |_| true).await
    }
}

#[async_trait]
impl<S: EventStore> EventStore for MeasuredStore<S> {
    async fn append(&self, stream: StreamId<'_>, event: StoredEvent) -> Result<u64, StoreError> {
        self.measure("append", self.store.append(stream, event))
            .await
    }

    async fn after(&self, stream: StreamId<'_>, after: Option<u64>) -> Result<Replay, ReplayError> {
        let is_failure = |error: &ReplayError| matches!(error, ReplayError::Store(_));
        self.measure_if("after", self.store.after(stream, after), is_failure)
            .await
    }

    async fn forget(&self, session: &str) -> Result<(), StoreError> {
        self.measure("forget", self.store.forget(session)).await
    }
}

#[async_trait]
impl<S: SessionStore> SessionStore for MeasuredStore<S> {
    async fn load(&self, id: &str) -> Result<Option<SessionRecord>, StoreError> {
        self.measure("load", self.store.load(id)).await
    }

    async fn insert(
        &self,
        id: &str,
        record: SessionRecord,
        ttl: Duration,
    ) -> Result<bool, StoreError> {
        self.measure("insert", self.store.insert(id, record, ttl))
            .await
    }

    async fn replace(
        &self,
        id: &str,
        record: SessionRecord,
        ttl: Duration,
    ) -> Result<bool, StoreError> {
        self.measure("replace", self.store.replace(id, record, ttl))
            .await
    }

    async fn touch(&self, id: &str, ttl: Duration) -> Result<bool, StoreError> {
        self.measure("touch", self.store.touch(id, ttl)).await
    }

    async fn remove(&self, id: &str) -> Result<(), StoreError> {
        self.measure("remove", self.store.remove(id)).await
    }

    fn relay(&self) -> Option<Arc<dyn SessionRelay>> {
        self.store.relay()
    }
}

#[async_trait]
impl<S: TaskStore> TaskStore for MeasuredStore<S> {
    async fn insert(
        &self,
        record: TaskRecord,
        ttl: Duration,
        limits: &TaskLimits,
    ) -> Result<TaskWrite, StoreError> {
        self.measure("insert", self.store.insert(record, ttl, limits))
            .await
    }

    async fn load(&self, id: &str) -> Result<Option<TaskRecord>, StoreError> {
        self.measure("load", self.store.load(id)).await
    }

    async fn replace(
        &self,
        record: TaskRecord,
        limits: &TaskLimits,
    ) -> Result<TaskWrite, StoreError> {
        self.measure("replace", self.store.replace(record, limits))
            .await
    }

    async fn remove(&self, id: &str) -> Result<(), StoreError> {
        self.measure("remove", self.store.remove(id)).await
    }

    async fn changed(&self, id: &str, revision: u64) -> Result<(), StoreError> {
        self.store.changed(id, revision).await
    }

    async fn keep_node(&self, node: &str, ttl: Duration) -> Result<(), StoreError> {
        self.measure("keep_node", self.store.keep_node(node, ttl))
            .await
    }

    async fn has_node(&self, node: &str) -> Result<bool, StoreError> {
        self.measure("has_node", self.store.has_node(node)).await
    }

    fn purge(&self) {
        self.store.purge();
    }
}

//! Metrics beyond the conventions, with the prefix `mcp.sdk.`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use mcp_core::EndpointMetrics;
use mcp_core::legacy::SessionRecord;
use mcp_core::store::{
    EventStore, Replay, ReplayError, SessionRelay, SessionStore, StoreError, StoredEvent, StreamId,
};
use opentelemetry::KeyValue;
use opentelemetry::metrics::{Histogram, Meter};

use crate::instruments::{BOUNDARIES, global_meter};

/// Reports what an endpoint holds as metrics of the global meter: `mcp.sdk.sessions`,
/// `mcp.sdk.streams` and `mcp.sdk.subscriptions` as they are at each export, and
/// `mcp.sdk.requests.refused` by `http.response.status_code`.
///
/// # Examples
///
/// ```
/// use mcp::StreamableHttp;
/// use mcp::prelude::*;
/// use mcp::telemetry;
///
/// let endpoint = StreamableHttp::new(Server::new("shop", "1.0.0"));
/// let watched = endpoint.clone();
/// telemetry::watch_endpoint(move || watched.metrics());
/// ```
pub fn watch_endpoint(read: impl Fn() -> EndpointMetrics + Send + Sync + 'static) {
    watch_endpoint_with(&global_meter(), read);
}

/// Reports what an endpoint holds as metrics of `meter`. See [`watch_endpoint`].
pub fn watch_endpoint_with(
    meter: &Meter,
    read: impl Fn() -> EndpointMetrics + Send + Sync + 'static,
) {
    let read: Arc<dyn Fn() -> EndpointMetrics + Send + Sync> = Arc::new(read);
    let gauge = |name, unit, description, value: fn(&EndpointMetrics) -> u64| {
        let read = read.clone();
        meter
            .u64_observable_gauge(name)
            .with_unit(unit)
            .with_description(description)
            .with_callback(move |gauge| gauge.observe(value(&read()), &[]))
            .build()
    };
    gauge(
        "mcp.sdk.sessions",
        "{session}",
        "Open sessions of legacy clients",
        |metrics| metrics.sessions,
    );
    gauge(
        "mcp.sdk.streams",
        "{stream}",
        "Open event streams",
        |metrics| metrics.streams,
    );
    gauge(
        "mcp.sdk.subscriptions",
        "{subscription}",
        "Running subscriptions",
        |metrics| metrics.subscriptions,
    );
    meter
        .u64_observable_counter("mcp.sdk.requests.refused")
        .with_unit("{request}")
        .with_description("Requests that were refused before a service was called")
        .with_callback(move |counter| {
            for (status, count) in read().refused {
                let status = KeyValue::new("http.response.status_code", i64::from(status));
                counter.observe(count, &[status]);
            }
        })
        .build();
}

/// An event store or session store whose operations are recorded in the histogram `mcp.sdk.store.operation.duration`
/// (seconds), with the attributes `operation` and, after a failure, `error.type`.
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
        let duration = meter
            .f64_histogram("mcp.sdk.store.operation.duration")
            .with_unit("s")
            .with_description("The duration of one operation of a store")
            .with_boundaries(BOUNDARIES.to_vec())
            .build();
        Self { store, duration }
    }

    fn record(&self, operation: &'static str, since: Duration, is_failed: bool) {
        let operation = KeyValue::new("operation", operation);
        let failure = KeyValue::new("error.type", crate::error_type::OTHER);
        match is_failed {
            true => self
                .duration
                .record(since.as_secs_f64(), &[operation, failure]),
            false => self.duration.record(since.as_secs_f64(), &[operation]),
        }
    }
}

#[async_trait]
impl<S: EventStore> EventStore for MeasuredStore<S> {
    async fn append(&self, stream: StreamId<'_>, event: StoredEvent) -> Result<u64, StoreError> {
        let start = Instant::now();
        let result = self.store.append(stream, event).await;
        self.record("append", start.elapsed(), result.is_err());
        result
    }

    async fn after(&self, stream: StreamId<'_>, after: Option<u64>) -> Result<Replay, ReplayError> {
        let start = Instant::now();
        let result = self.store.after(stream, after).await;
        let is_failed = matches!(result, Err(ReplayError::Store(_)));
        self.record("after", start.elapsed(), is_failed);
        result
    }

    async fn forget(&self, session: &str) -> Result<(), StoreError> {
        let start = Instant::now();
        let result = self.store.forget(session).await;
        self.record("forget", start.elapsed(), result.is_err());
        result
    }
}

#[async_trait]
impl<S: SessionStore> SessionStore for MeasuredStore<S> {
    async fn load(&self, id: &str) -> Result<Option<SessionRecord>, StoreError> {
        let start = Instant::now();
        let result = self.store.load(id).await;
        self.record("load", start.elapsed(), result.is_err());
        result
    }

    async fn insert(
        &self,
        id: &str,
        record: SessionRecord,
        ttl: Duration,
    ) -> Result<bool, StoreError> {
        let start = Instant::now();
        let result = self.store.insert(id, record, ttl).await;
        self.record("insert", start.elapsed(), result.is_err());
        result
    }

    async fn replace(
        &self,
        id: &str,
        record: SessionRecord,
        ttl: Duration,
    ) -> Result<bool, StoreError> {
        let start = Instant::now();
        let result = self.store.replace(id, record, ttl).await;
        self.record("replace", start.elapsed(), result.is_err());
        result
    }

    async fn touch(&self, id: &str, ttl: Duration) -> Result<bool, StoreError> {
        let start = Instant::now();
        let result = self.store.touch(id, ttl).await;
        self.record("touch", start.elapsed(), result.is_err());
        result
    }

    async fn remove(&self, id: &str) -> Result<(), StoreError> {
        let start = Instant::now();
        let result = self.store.remove(id).await;
        self.record("remove", start.elapsed(), result.is_err());
        result
    }

    fn relay(&self) -> Option<Arc<dyn SessionRelay>> {
        self.store.relay()
    }
}

//! Metrics beyond the conventions, with the prefix `mcp.sdk.`.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcp_core::{AuthMetrics, EndpointMetrics, TaskMetrics};
use opentelemetry::KeyValue;
use opentelemetry::metrics::Meter;

use crate::instruments::global_meter;

/// Reports what an endpoint holds with the global meter: `mcp.sdk.sessions`,
/// `mcp.sdk.streams`, `mcp.sdk.subscriptions` and `mcp.sdk.queue.size` (bytes) as they are at each
/// export, and `mcp.sdk.requests.refused` by `http.response.status_code`. On a pipe, refused requests
/// are counted by `rpc.response.status_code`.
///
/// # Examples
///
/// ```
/// use mcp::prelude::*;
/// use mcp::telemetry;
/// use mcp::{StdioServer, StreamableHttp};
///
/// let endpoint = StreamableHttp::new(Server::new("shop", "1.0.0"));
/// let watched = endpoint.clone();
/// telemetry::watch_endpoint(move || watched.metrics());
///
/// let pipe = StdioServer::new(Server::new("shop", "1.0.0"));
/// telemetry::watch_endpoint(pipe.metrics_reader());
/// ```
pub fn watch_endpoint(read: impl Fn() -> EndpointMetrics + Send + Sync + 'static) {
    watch_endpoint_with(&global_meter(), read);
}

/// Reports what an endpoint holds with `meter`. See [`watch_endpoint`].
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
    gauge(
        "mcp.sdk.queue.size",
        "By",
        "Bytes of messages that wait until clients read them",
        |metrics| metrics.queued_bytes,
    );
    counter(
        meter,
        ("mcp.sdk.requests.refused", "{request}"),
        "Requests that were refused before a service was called",
        move || {
            let metrics = read();
            let by_status = metrics.refused.into_iter().map(|(status, count)| {
                let status = KeyValue::new("http.response.status_code", i64::from(status));
                (status, count)
            });
            let by_code = metrics.refused_by_code.into_iter().map(|(code, count)| {
                let code = KeyValue::new("rpc.response.status_code", code.to_string());
                (code, count)
            });
            by_status.chain(by_code).collect()
        },
    );
}

/// Reports the decisions about access tokens with the global meter: `mcp.sdk.auth.requests` by
/// `outcome`, which is `accepted` or `refused`, and for refused ones by `reason`.
///
/// # Examples
///
/// ```
/// use mcp::auth::{ResourceServer, StaticTokens};
/// use mcp::telemetry;
///
/// # fn main() -> Result<(), mcp::auth::AuthError> {
/// let tokens = StaticTokens::new().token("secret", "ada", ["files:read"]);
/// let protection = ResourceServer::new("http://127.0.0.1/mcp").static_tokens(tokens).build()?;
/// let watched = protection.clone();
/// telemetry::watch_auth(move || watched.metrics());
/// # Ok(())
/// # }
/// ```
pub fn watch_auth(read: impl Fn() -> AuthMetrics + Send + Sync + 'static) {
    watch_auth_with(&global_meter(), read);
}

/// Reports the decisions about access tokens with `meter`. See [`watch_auth`].
pub fn watch_auth_with(meter: &Meter, read: impl Fn() -> AuthMetrics + Send + Sync + 'static) {
    meter
        .u64_observable_counter("mcp.sdk.auth.requests")
        .with_unit("{request}")
        .with_description("Requests whose access token was checked")
        .with_callback(move |counter| {
            let metrics = read();
            let outcome = |outcome| KeyValue::new("outcome", outcome);
            counter.observe(metrics.accepted, &[outcome("accepted")]);
            for (reason, count) in metrics.refused {
                let reason = KeyValue::new("reason", reason);
                counter.observe(count, &[outcome("refused"), reason]);
            }
        })
        .build();
}

/// Reports this node's tasks with the global meter: `mcp.sdk.tasks`, those that run, and
/// `mcp.sdk.tasks.ended`, both by `status`.
///
/// # Examples
///
/// ```
/// use mcp::prelude::*;
/// use mcp::tasks::Tasks;
/// use mcp::telemetry;
///
/// let tasks = Tasks::in_memory();
/// telemetry::watch_tasks(tasks.metrics_reader());
/// let server = Server::new("studio", "1.0.0").tasks(tasks);
/// ```
pub fn watch_tasks(read: impl Fn() -> TaskMetrics + Send + Sync + 'static) {
    watch_tasks_with(&global_meter(), read);
}

/// Reports this node's tasks with `meter`. See [`watch_tasks`].
pub fn watch_tasks_with(meter: &Meter, read: impl Fn() -> TaskMetrics + Send + Sync + 'static) {
    let read: Arc<dyn Fn() -> TaskMetrics + Send + Sync> = Arc::new(read);
    let open = read.clone();
    meter
        .u64_observable_gauge("mcp.sdk.tasks")
        .with_unit("{task}")
        .with_description("Running tasks of this node")
        .with_callback(move |gauge| {
            for (status, count) in by_status(open().open) {
                gauge.observe(count, &[status]);
            }
        })
        .build();
    counter(
        meter,
        ("mcp.sdk.tasks.ended", "{task}"),
        "Tasks of this node that have ended",
        move || by_status(read().ended),
    );
}

fn by_status(counts: BTreeMap<&'static str, u64>) -> Vec<(KeyValue, u64)> {
    let counts = counts.into_iter();
    counts
        .map(|(status, count)| (KeyValue::new("status", status), count))
        .collect()
}

/// Builds a counter with a name and a unit that is read at each export, with one attribute per value.
fn counter(
    meter: &Meter,
    (name, unit): (&'static str, &'static str),
    description: &'static str,
    read: impl Fn() -> Vec<(KeyValue, u64)> + Send + Sync + 'static,
) {
    meter
        .u64_observable_counter(name)
        .with_unit(unit)
        .with_description(description)
        .with_callback(move |counter| {
            for (attribute, count) in read() {
                counter.observe(count, &[attribute]);
            }
        })
        .build();
}

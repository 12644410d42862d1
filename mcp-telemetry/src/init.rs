//! Export by the `OTEL_*` variables.

use std::env;
use std::io;
use std::sync::Arc;

use opentelemetry::trace::TracerProvider;
use opentelemetry::{InstrumentationScope, global};
use opentelemetry_otlp::{MetricExporter, SpanExporter, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkError;
use opentelemetry_sdk::metrics::{MeterProviderBuilder, SdkMeterProvider};
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
use tracing_opentelemetry::OpenTelemetryLayer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt};

use crate::init_error::InitError;
use crate::log_format::TraceIds;
use crate::tls;

/// Default filter of logs and spans. [`init`] reads another one from `RUST_LOG`.
const DEFAULT_FILTER: &str = "info";

/// Installs the export of traces and metrics by OTLP (HTTP/protobuf), and a `tracing` subscriber that
/// writes logs with trace ids to standard error.
///
/// The usual variables are read, among them `OTEL_EXPORTER_OTLP_ENDPOINT` (default
/// `http://localhost:4318`), `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_SERVICE_NAME` (default:
/// `service_name`), `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_TRACES_SAMPLER`, `OTEL_METRIC_EXPORT_INTERVAL` and
/// `OTEL_BSP_SCHEDULE_DELAY`. `OTEL_TRACES_EXPORTER=none` and `OTEL_METRICS_EXPORTER=none` switch one
/// signal off, `OTEL_SDK_DISABLED=true` both. `RUST_LOG` filters logs and spans by target and level,
/// `info` by default.
///
/// Keep the guard until the end of `main`: dropping it exports what is left. Threads of its own export,
/// so no runtime is needed. A collector that cannot be reached does not affect the program; the log
/// says it.
///
/// Programs with a subscriber of their own use [`export`] instead.
///
/// # Errors
///
/// Returns [`InitError`] when a variable is invalid, or when the program has a subscriber already.
///
/// # Examples
///
/// ```no_run
/// use mcp::prelude::*;
/// use mcp::telemetry::{self, Telemetry};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let _guard = telemetry::init("shop")?;
/// let server = Server::new("shop", "1.0.0").layer(Telemetry::server());
/// # drop(server);
/// # Ok(())
/// # }
/// ```
pub fn init(service_name: &str) -> Result<Guard, InitError> {
    let filter = match env::var("RUST_LOG") {
        Ok(filter) if !filter.is_empty() => filter,
        _ => DEFAULT_FILTER.to_owned(),
    };
    let filter: Targets = filter.parse().map_err(|error| InitError::Filter {
        filter: filter.clone(),
        reason: format!("{error}"),
    })?;
    let (guard, layer) = export(service_name)?;
    let logs = fmt::layer()
        .with_writer(io::stderr)
        .event_format(TraceIds::new(fmt::format()));
    tracing_subscriber::registry()
        .with(layer.with_filter(filter.clone()))
        .with(logs.with_filter(filter))
        .try_init()
        .map_err(|_| InitError::Subscriber)?;
    Ok(guard)
}

/// The layer of a `tracing` subscriber that exports spans. `None` when traces are switched off.
pub type ExportLayer<S> = Option<OpenTelemetryLayer<S, SdkTracer>>;

/// Installs the export of metrics as [`init`] does, and returns the layer that exports spans, for a
/// subscriber of the program.
///
/// # Errors
///
/// Returns [`InitError`] when a variable is invalid.
///
/// # Examples
///
/// ```no_run
/// use mcp::telemetry;
/// use tracing_subscriber::layer::SubscriberExt;
/// use tracing_subscriber::util::SubscriberInitExt;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (_guard, layer) = telemetry::export("shop")?;
/// tracing_subscriber::registry().with(layer).init();
/// # Ok(())
/// # }
/// ```
pub fn export<S>(service_name: &str) -> Result<(Guard, ExportLayer<S>), InitError>
where
    S: tracing::Subscriber + for<'a> LookupSpan<'a>,
{
    export_with(service_name, |meters| meters)
}

/// Installs the export as [`export`] does, with further readers of metrics, for example for Prometheus:
/// `configure` receives the builder of the meter provider.
///
/// # Errors
///
/// Returns [`InitError`] when a variable is invalid.
pub fn export_with<S>(
    service_name: &str,
    configure: impl FnOnce(MeterProviderBuilder) -> MeterProviderBuilder,
) -> Result<(Guard, ExportLayer<S>), InitError>
where
    S: tracing::Subscriber + for<'a> LookupSpan<'a>,
{
    let mut guard = Guard::default();
    if is_set("OTEL_SDK_DISABLED", "true") {
        return Ok((guard, None));
    }
    let client = Arc::new(tls::client(uses_tls())?);
    let resource = resource(service_name);
    let mut meters = configure(SdkMeterProvider::builder()).with_resource(resource.clone());
    if !is_set("OTEL_METRICS_EXPORTER", "none") {
        let exporter = MetricExporter::builder()
            .with_http()
            .with_shared_http_client(client.clone())
            .build()?;
        meters = meters.with_periodic_exporter(exporter);
    }
    let meters = meters.build();
    global::set_meter_provider(meters.clone());
    guard.meters = Some(meters);
    if is_set("OTEL_TRACES_EXPORTER", "none") {
        return Ok((guard, None));
    }
    let exporter = SpanExporter::builder()
        .with_http()
        .with_shared_http_client(client)
        .build()?;
    let tracers = SdkTracerProvider::builder()
        .with_resource(resource)
        .with_batch_exporter(exporter)
        .build();
    let scope = InstrumentationScope::builder("mcp")
        .with_version(env!("CARGO_PKG_VERSION"))
        .build();
    let layer = tracing_opentelemetry::layer()
        .with_location(false)
        .with_threads(false)
        .with_tracked_inactivity(false)
        .with_target(false)
        .with_level(false)
        .with_tracer(tracers.tracer_with_scope(scope));
    guard.tracers = Some(tracers);
    Ok((guard, Some(layer)))
}

fn is_set(variable: &str, value: &str) -> bool {
    env::var(variable).is_ok_and(|given| given.trim().eq_ignore_ascii_case(value))
}

fn uses_tls() -> bool {
    let endpoints = [
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
    ];
    let is_https = |url: String| url.trim_start().to_ascii_lowercase().starts_with("https:");
    endpoints
        .iter()
        .any(|variable| env::var(variable).is_ok_and(is_https))
}

/// The attributes of the service. Variables take precedence.
fn resource(service_name: &str) -> Resource {
    let has_name = env::var("OTEL_SERVICE_NAME").is_ok_and(|name| !name.is_empty())
        || env::var("OTEL_RESOURCE_ATTRIBUTES").is_ok_and(|it| it.contains("service.name="));
    let resource = Resource::builder();
    match has_name {
        true => resource.build(),
        false => resource.with_service_name(service_name.to_owned()).build(),
    }
}

/// Exports what is left when it is dropped.
#[derive(Debug, Default)]
#[must_use = "dropping the guard ends the export"]
pub struct Guard {
    meters: Option<SdkMeterProvider>,
    tracers: Option<SdkTracerProvider>,
}

impl Guard {
    /// Exports everything that was recorded until now. Blocks the thread.
    ///
    /// # Errors
    ///
    /// Returns the error of the export.
    pub fn flush(&self) -> Result<(), OTelSdkError> {
        if let Some(tracers) = &self.tracers {
            tracers.force_flush()?;
        }
        match &self.meters {
            Some(meters) => meters.force_flush(),
            None => Ok(()),
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(tracers) = self.tracers.take()
            && let Err(error) = tracers.shutdown()
        {
            tracing::warn!(%error, "spans were not exported");
        }
        if let Some(meters) = self.meters.take()
            && let Err(error) = meters.shutdown()
        {
            tracing::warn!(%error, "metrics were not exported");
        }
    }
}

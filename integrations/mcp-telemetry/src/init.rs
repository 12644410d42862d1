//! [`init`] and [`export`]: install the export that the `OTEL_*` variables configure.

use std::env::{self, VarError};
use std::fmt;
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
use tracing_subscriber::layer::{Layered, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt as log};

use crate::init_error::InitError;
use crate::log_format::TraceIds;
use crate::sampling::HeadSampling;
use crate::tls;

/// The filter of logs and spans if `RUST_LOG` is not set.
const DEFAULT_FILTER: &str = "info";

/// Exports traces and metrics over OTLP (HTTP/protobuf), and installs a `tracing` subscriber that writes
/// logs with trace ids to standard error.
///
/// Reads the standard variables of OpenTelemetry, among them `OTEL_EXPORTER_OTLP_ENDPOINT` (default
/// `http://localhost:4318`), `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_SERVICE_NAME` (default:
/// `service_name`), `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_TRACES_SAMPLER`, `OTEL_METRIC_EXPORT_INTERVAL` and
/// `OTEL_BSP_SCHEDULE_DELAY`. `OTEL_TRACES_EXPORTER=none` switches traces off,
/// `OTEL_METRICS_EXPORTER=none` metrics, and `OTEL_SDK_DISABLED=true` both. `RUST_LOG` filters logs and
/// spans by target and level (default: `info`).
///
/// Keep the guard until `main` ends: dropping it exports what is left. Dedicated threads export,
/// so no runtime is needed. If the collector cannot be reached, the program only logs it.
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
    let logs = log::layer()
        .with_writer(io::stderr)
        .event_format(TraceIds::new(log::format()));
    tracing_subscriber::registry()
        .with(layer.with_filter(filter.clone()))
        .with(logs.with_filter(filter))
        .try_init()
        .map_err(|_| InitError::Subscriber)?;
    Ok(guard)
}

/// The layer for a `tracing` subscriber that samples calls and exports spans. `None` if traces are
/// switched off.
pub type ExportLayer<S> = Option<Layered<HeadSampling, OpenTelemetryLayer<S, SdkTracer>, S>>;

/// Exports metrics as [`init`] does, and returns the layer that exports spans, for the program's own
/// subscriber.
///
/// # Errors
///
/// Returns [`InitError`] when a variable is invalid.
///
/// # Examples
///
/// ```no_run
/// use mcp::telemetry;
/// use tracing_subscriber::filter::LevelFilter;
/// use tracing_subscriber::layer::SubscriberExt;
/// use tracing_subscriber::util::SubscriberInitExt;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (_guard, layer) = telemetry::export("shop")?;
/// // Without a filter, spans of all levels are exported.
/// tracing_subscriber::registry().with(LevelFilter::INFO).with(layer).init();
/// # Ok(())
/// # }
/// ```
pub fn export<S>(service_name: &str) -> Result<(Guard, ExportLayer<S>), InitError>
where
    S: tracing::Subscriber + for<'a> LookupSpan<'a>,
{
    let is_off = is_set("OTEL_METRICS_EXPORTER", "none");
    // A provider without a reader would log an error for each instrument with a callback.
    install(service_name, (!is_off).then(SdkMeterProvider::builder))
}

/// Exports as [`export`] does, and lets `configure` change the meter provider's builder, for example to
/// add a reader for Prometheus. The readers that it adds stay if `OTEL_METRICS_EXPORTER` is `none`.
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
    install(service_name, Some(configure(SdkMeterProvider::builder())))
}

/// Exports metrics with `meters`, and spans.
fn install<S>(
    service_name: &str,
    meters: Option<MeterProviderBuilder>,
) -> Result<(Guard, ExportLayer<S>), InitError>
where
    S: tracing::Subscriber + for<'a> LookupSpan<'a>,
{
    let mut guard = Guard::default();
    if is_set("OTEL_SDK_DISABLED", "true") {
        return Ok((guard, None));
    }
    check_endpoints()?;
    let client = Arc::new(tls::client(uses_tls())?);
    let resource = resource(service_name);
    if let Some(mut meters) = meters {
        if !is_set("OTEL_METRICS_EXPORTER", "none") {
            let exporter = MetricExporter::builder()
                .with_http()
                .with_shared_http_client(client.clone())
                .build()?;
            meters = meters.with_periodic_exporter(exporter);
        }
        let meters = meters.with_resource(resource.clone()).build();
        global::set_meter_provider(meters.clone());
        guard.meters = Some(meters);
    }
    if is_set("OTEL_TRACES_EXPORTER", "none") {
        return Ok((guard, None));
    }
    let exporter = SpanExporter::builder()
        .with_http()
        .with_shared_http_client(client)
        .build()?;
    let sampling = HeadSampling::from_env();
    let tracers = SdkTracerProvider::builder()
        .with_sampler(sampling.clone())
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
        .with_tracer(tracers.tracer_with_scope(scope))
        .and_then(sampling);
    guard.tracers = Some(tracers);
    Ok((guard, Some(layer)))
}

fn is_set(variable: &str, value: &str) -> bool {
    env::var(variable).is_ok_and(|given| given.trim().eq_ignore_ascii_case(value))
}

/// The variables that contain endpoints.
const ENDPOINTS: [&str; 3] = [
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
];

/// Checks the endpoints before the exporters read them. The exporters' errors contain the values, which
/// may be secrets.
fn check_endpoints() -> Result<(), InitError> {
    for variable in ENDPOINTS {
        let invalid = |reason: String| InitError::Endpoint { variable, reason };
        let value = match env::var(variable) {
            Ok(value) => value,
            Err(VarError::NotPresent) => continue,
            Err(VarError::NotUnicode(_)) => return Err(invalid("it is not UTF-8".to_owned())),
        };
        if value.is_empty() {
            continue;
        }
        let url = value.parse::<http::Uri>();
        let url = url.map_err(|error| invalid(error.to_string()))?;
        let is_http = matches!(url.scheme_str(), Some("http" | "https"));
        if !is_http || url.host().is_none_or(str::is_empty) {
            return Err(invalid(
                "it has no scheme http or https, or no host".to_owned(),
            ));
        }
    }
    Ok(())
}

fn uses_tls() -> bool {
    let is_https = |url: String| url.trim_start().to_ascii_lowercase().starts_with("https:");
    ENDPOINTS
        .iter()
        .any(|variable| env::var(variable).is_ok_and(is_https))
}

/// Returns the service's attributes. Variables take precedence over `service_name`.
fn resource(service_name: &str) -> Resource {
    let names_service = |attributes: String| {
        let mut attributes = attributes.split(',').map(str::trim_start);
        attributes.any(|attribute| attribute.starts_with("service.name="))
    };
    let has_name = env::var("OTEL_SERVICE_NAME").is_ok_and(|name| !name.is_empty())
        || env::var("OTEL_RESOURCE_ATTRIBUTES").is_ok_and(names_service);
    let resource = Resource::builder();
    if has_name {
        resource.build()
    } else {
        resource.with_service_name(service_name.to_owned()).build()
    }
}

/// Keeps the export running. Dropping it exports what is left, and ends the export.
#[derive(Default)]
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
    /// Returns the exporter's error. Metrics are not exported if spans cannot be.
    pub fn flush(&self) -> Result<(), OTelSdkError> {
        let spans = self.tracers.as_ref().map(SdkTracerProvider::force_flush);
        let metrics = self.meters.as_ref().map(SdkMeterProvider::force_flush);
        spans.into_iter().chain(metrics).collect()
    }
}

/// Leaves out the providers, because their exporters contain headers with credentials.
impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard")
            .field("meters", &self.meters.is_some())
            .field("tracers", &self.tracers.is_some())
            .finish()
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(tracers) = self.tracers.take()
            && let Err(error) = tracers.shutdown()
        {
            tracing::warn!(error = %mcp_types::escaped(&error), "spans were not exported");
        }
        if let Some(meters) = self.meters.take()
            && let Err(error) = meters.shutdown()
        {
            tracing::warn!(error = %mcp_types::escaped(&error), "metrics were not exported");
        }
    }
}

#[cfg(test)]
mod tests {
    //! Each case runs in a process of its own, because variables belong to the process.

    use std::env;
    use std::process::Command;
    use std::time::Duration;

    use opentelemetry::metrics::MeterProvider;
    use opentelemetry::trace::SpanKind;
    use opentelemetry::{Context, Key};
    use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
    use opentelemetry_sdk::metrics::{InMemoryMetricExporter, PeriodicReader, SdkMeterProvider};
    use opentelemetry_sdk::trace::{SdkTracerProvider, Span, SpanData, SpanProcessor};
    use tracing_subscriber::Registry;
    use tracing_subscriber::layer::SubscriberExt;

    use super::{Guard, export, init, resource};
    use crate::sampling;
    use crate::trace_context::Origin;

    const SECRET: &str = "hunter2";

    /// Exports no spans.
    #[derive(Debug)]
    struct Broken;

    impl SpanProcessor for Broken {
        fn on_start(&self, _: &mut Span, _: &Context) {}

        fn on_end(&self, _: SpanData) {}

        fn force_flush(&self) -> OTelSdkResult {
            Err(OTelSdkError::InternalFailure("broken".to_owned()))
        }

        fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
            Ok(())
        }
    }

    /// Runs `child` in a process with these variables, and returns its output.
    fn run(case: &str, variables: &[(&str, &str)]) -> String {
        let mut child = Command::new(env::current_exe().unwrap());
        child
            .args(["--exact", "init::tests::child", "--ignored", "--nocapture"])
            .env("CASE", case)
            .envs(variables.iter().copied());
        let output = child.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        text + &String::from_utf8(output.stderr).unwrap()
    }

    #[test]
    #[ignore = "runs in the processes of the other tests"]
    #[allow(clippy::print_stdout, reason = "the other tests read it")]
    fn child() {
        match env::var("CASE").unwrap().as_str() {
            "export" => match export::<Registry>("shop") {
                Ok((guard, layer)) => println!("{guard:?} layer: {}", layer.is_some()),
                Err(error) => println!("{error} {error:?}"),
            },
            "init" => match init("shop") {
                Ok(_guard) => println!("again: {:?}", init("shop").unwrap_err()),
                Err(error) => println!("{error}"),
            },
            "sample" => {
                let (_guard, layer) = export::<Registry>("shop").unwrap();
                let subscriber = tracing_subscriber::registry().with(layer);
                let _entered = tracing::subscriber::set_default(subscriber);
                let decision = sampling::decide(&SpanKind::Server, "ping", Origin::sent);
                println!("{decision:?}");
            }
            _ => println!(
                "service: {:?}",
                resource("shop").get(&Key::new("service.name"))
            ),
        }
    }

    #[test]
    fn both_signals_are_exported_unless_variables_switch_them_off() {
        for (variables, expected) in [
            (vec![], "Guard { meters: true, tracers: true } layer: true"),
            (
                vec![("OTEL_TRACES_EXPORTER", "none")],
                "Guard { meters: true, tracers: false } layer: false",
            ),
            (
                vec![("OTEL_METRICS_EXPORTER", "none")],
                "Guard { meters: false, tracers: true } layer: true",
            ),
            (
                vec![("OTEL_SDK_DISABLED", "TRUE")],
                "Guard { meters: false, tracers: false } layer: false",
            ),
        ] {
            // No collector listens there.
            let mut all = vec![("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")];
            all.extend(variables.iter().copied());
            let output = run("export", &all);
            assert!(output.contains(expected), "{variables:?}: {output}");
        }
    }

    #[test]
    fn metrics_are_exported_although_span_export_fails() {
        let metrics = InMemoryMetricExporter::default();
        let reader = PeriodicReader::builder(metrics.clone()).build();
        let meters = SdkMeterProvider::builder().with_reader(reader).build();
        meters.meter("test").u64_counter("sold").build().add(1, &[]);
        let guard = Guard {
            meters: Some(meters),
            tracers: Some(
                SdkTracerProvider::builder()
                    .with_span_processor(Broken)
                    .build(),
            ),
        };
        assert!(guard.flush().is_err());
        assert_eq!(metrics.get_finished_metrics().unwrap().len(), 1);
    }

    #[test]
    fn bad_endpoint_is_an_error_that_names_the_variable_and_not_the_value() {
        for variable in super::ENDPOINTS {
            for value in [
                "not a url hunter2",
                "http://user:hunter2@",
                "user:hunter2@host:4318",
                "ftp://user:hunter2@host",
                "http://[hunter2",
            ] {
                let output = run("export", &[(variable, value)]);
                assert!(
                    output.contains(&format!("`{variable}` is not a URL")),
                    "{output}"
                );
                assert!(!output.contains(SECRET), "{output}");
            }
        }
    }

    #[test]
    fn headers_and_passwords_are_not_printed() {
        let output = run(
            "export",
            &[
                (
                    "OTEL_EXPORTER_OTLP_ENDPOINT",
                    "http://user:hunter2@127.0.0.1:9",
                ),
                ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer hunter2"),
            ],
        );
        assert!(output.contains("layer: true"), "{output}");
        assert!(!output.contains(SECRET), "{output}");
    }

    #[test]
    fn service_is_named_by_variables_or_else_by_the_program() {
        for (variables, expected) in [
            (vec![], "shop"),
            (vec![("OTEL_SERVICE_NAME", "store")], "store"),
            (
                vec![("OTEL_RESOURCE_ATTRIBUTES", "a=b, service.name=mall")],
                "mall",
            ),
            (
                vec![("OTEL_RESOURCE_ATTRIBUTES", "peer.service.name=mall")],
                "shop",
            ),
        ] {
            let output = run("resource", &variables);
            assert!(output.contains(expected), "{output}");
        }
    }

    #[test]
    fn calls_are_sampled_by_the_variables_before_their_spans_are_made() {
        for (sampler, expected) in [
            ("always_on", "Span(Some("),
            ("parentbased_always_off", "Refused("),
        ] {
            let output = run(
                "sample",
                &[
                    ("OTEL_TRACES_SAMPLER", sampler),
                    ("OTEL_METRICS_EXPORTER", "none"),
                ],
            );
            assert!(output.contains(expected), "{sampler}: {output}");
        }
    }

    #[test]
    fn filter_and_second_subscriber_are_errors() {
        let off = ("OTEL_SDK_DISABLED", "true");
        let output = run("init", &[off, ("RUST_LOG", "shop=loud")]);
        assert!(output.contains("`RUST_LOG` is not a list"), "{output}");
        let output = run("init", &[off]);
        assert!(output.contains("again: Subscriber"), "{output}");
    }
}

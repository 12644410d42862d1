//! An in-memory recorder for spans and metrics, and a server with one item of each kind.

use std::collections::HashMap;

use mcp::client::ClientBuilder;
use mcp::prelude::*;
use mcp::telemetry::Telemetry;
use mcp::telemetry::opentelemetry::metrics::{Meter, MeterProvider};
use mcp::telemetry::opentelemetry::trace::{SpanKind, Status, TracerProvider};
use mcp::telemetry::opentelemetry::{KeyValue, SpanId};
use mcp::{Client, ElicitRequest};
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, PeriodicReader, SdkMeterProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::layer::SubscriberExt;

#[derive(Elicit)]
struct Name {
    name: String,
}

/// Returns a server with one item of each kind.
pub(crate) fn server() -> Server {
    let ask = |ask: Ask| async move {
        let answer = ask.form::<Name>("who", "Who are you?").await?;
        Ok::<_, ToolError>(match answer {
            Answer::Accept(name) => name.name,
            _ => "nobody".to_owned(),
        })
    };
    Server::new("shop", "1.0.0")
        .tool(Tool::new("add").handler(|| "3"))
        .tool(Tool::new("fail").handler(|| Err::<String, _>(ToolError::new("no paper"))))
        .tool(Tool::new("ask").handler(ask))
        .prompt(Prompt::new("greet").handler(|| "Say hello."))
        .resource(Resource::new("shop://list").read(|| "milk"))
}

/// Returns a client that answers forms.
pub(crate) fn client() -> ClientBuilder {
    Client::builder().on_elicit(|form: ElicitRequest| async move {
        form.accept(serde_json::json!({ "name": "Ada" }))
    })
}

/// Records what the present thread does.
pub(crate) struct Recorder {
    spans: InMemorySpanExporter,
    tracers: SdkTracerProvider,
    metrics: InMemoryMetricExporter,
    meters: SdkMeterProvider,
    _subscriber: DefaultGuard,
}

impl Recorder {
    pub(crate) fn start() -> Self {
        let spans = InMemorySpanExporter::default();
        let tracers = SdkTracerProvider::builder()
            .with_simple_exporter(spans.clone())
            .build();
        let layer = tracing_opentelemetry::layer()
            .with_location(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            .with_target(false)
            .with_level(false)
            .with_tracer(tracers.tracer("test"));
        let subscriber = tracing_subscriber::registry().with(layer);
        let metrics = InMemoryMetricExporter::default();
        let reader = PeriodicReader::builder(metrics.clone()).build();
        Self {
            spans,
            tracers,
            metrics,
            meters: SdkMeterProvider::builder().with_reader(reader).build(),
            _subscriber: tracing::subscriber::set_default(subscriber),
        }
    }

    pub(crate) fn server_layer(&self) -> Telemetry {
        Telemetry::server().meter(self.meters.meter("mcp"))
    }

    pub(crate) fn meter(&self) -> Meter {
        self.meters.meter("mcp")
    }

    /// Returns one line for each number: name, unit, attributes, value.
    pub(crate) fn number_table(&self) -> String {
        self.meters.force_flush().unwrap();
        let exported = self.metrics.get_finished_metrics().unwrap();
        let last = exported.last().unwrap();
        let metrics = last.scope_metrics().flat_map(|scope| scope.metrics());
        lines(metrics.flat_map(|metric| {
            let head = format!("{} [{}]", metric.name(), metric.unit());
            let points: Vec<(String, u64)> = match metric.data() {
                AggregatedMetrics::U64(MetricData::Gauge(gauge)) => gauge
                    .data_points()
                    .map(|point| (attributes(point.attributes()), point.value()))
                    .collect(),
                AggregatedMetrics::U64(MetricData::Sum(sum)) => sum
                    .data_points()
                    .map(|point| (attributes(point.attributes()), point.value()))
                    .collect(),
                _ => Vec::new(),
            };
            let line = move |(attributes, value): (String, u64)| {
                let attributes = if attributes.is_empty() {
                    attributes
                } else {
                    format!(" {attributes}")
                };
                format!("{head}{attributes} | {value}")
            };
            points.into_iter().map(line).collect::<Vec<_>>()
        }))
    }

    pub(crate) fn client_layer(&self) -> Telemetry {
        Telemetry::client().meter(self.meters.meter("mcp"))
    }

    /// Returns the spans that have ended, in this order.
    pub(crate) fn spans(&self) -> Vec<SpanData> {
        self.tracers.force_flush().unwrap();
        self.spans.get_finished_spans().unwrap()
    }

    /// Returns the only span with this kind and name.
    pub(crate) fn span(&self, kind: &SpanKind, name: &str) -> SpanData {
        let spans = self.spans();
        let mut found = spans
            .iter()
            .filter(|span| span.span_kind == *kind && span.name == name);
        let span = found.next().cloned();
        span.unwrap_or_else(|| panic!("no {kind:?} {name} among {}", span_names(&spans)))
    }

    /// Returns one line for each span: kind, name, parent, links, status, attributes. Sorted.
    pub(crate) fn span_table(&self) -> String {
        let spans = self.spans();
        let names: HashMap<SpanId, String> = spans
            .iter()
            .map(|span| {
                let name = format!("{:?} {}", span.span_kind, span.name);
                (span.span_context.span_id(), name)
            })
            .collect();
        lines(spans.iter().map(|span| {
            let parent = names.get(&span.parent_span_id);
            let parent = parent.map_or("none", |name| name);
            let status = match &span.status {
                Status::Error { description } => format!("ERROR {description:?}"),
                Status::Unset => "UNSET".to_owned(),
                Status::Ok => "OK".to_owned(),
            };
            format!(
                "{:?} {} | parent: {parent} | {status} | {}",
                span.span_kind,
                span.name,
                attributes(span.attributes.iter()),
            )
        }))
    }

    /// Returns true if anything was measured.
    pub(crate) fn has_metrics(&self) -> bool {
        self.meters.force_flush().unwrap();
        !self.metrics.get_finished_metrics().unwrap().is_empty()
    }

    /// Returns one line for each metric, with its unit and its boundaries, and one for each of its
    /// points. Sorted.
    pub(crate) fn metric_table(&self) -> String {
        self.meters.force_flush().unwrap();
        let exported = self.metrics.get_finished_metrics().unwrap();
        let last = exported.last().unwrap();
        let mut all = Vec::new();
        for metric in last.scope_metrics().flat_map(|scope| scope.metrics()) {
            let AggregatedMetrics::F64(MetricData::Histogram(histogram)) = metric.data() else {
                panic!("{} is not a histogram", metric.name());
            };
            for point in histogram.data_points() {
                let bounds: Vec<_> = point.bounds().map(|bound| bound.to_string()).collect();
                all.push(format!(
                    "{} [{}] {}",
                    metric.name(),
                    metric.unit(),
                    bounds.join(" ")
                ));
                all.push(format!(
                    "{} | {} | {}",
                    metric.name(),
                    attributes(point.attributes()),
                    point.count(),
                ));
            }
        }
        all.sort();
        all.dedup();
        lines(all.into_iter())
    }
}

fn span_names(spans: &[SpanData]) -> String {
    let names = spans
        .iter()
        .map(|span| format!("{:?} {}", span.span_kind, span.name));
    names.collect::<Vec<_>>().join(", ")
}

fn attributes<'a>(attributes: impl Iterator<Item = &'a KeyValue>) -> String {
    let mut pairs: Vec<_> = attributes
        .map(|pair| match pair.key.as_str() {
            "mcp.session.id" => "mcp.session.id=SESSION".to_owned(),
            key => format!("{key}={}", pair.value),
        })
        .collect();
    pairs.sort();
    pairs.join(" ")
}

fn lines(lines: impl Iterator<Item = String>) -> String {
    let mut lines: Vec<_> = lines.collect();
    lines.sort();
    lines.join("\n") + "\n"
}

/// Returns the value of an attribute.
pub(crate) fn attribute(span: &SpanData, key: &str) -> Option<String> {
    let pair = span
        .attributes
        .iter()
        .find(|pair| pair.key.as_str() == key)?;
    Some(pair.value.to_string())
}

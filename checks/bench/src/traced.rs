//! Servers with telemetry.

use std::time::Duration;

use mcp::Server;
use mcp::telemetry::opentelemetry::metrics::MeterProvider as _;
use mcp::telemetry::opentelemetry::trace::TracerProvider as _;
use mcp::telemetry::opentelemetry_sdk::error::OTelSdkResult;
use mcp::telemetry::opentelemetry_sdk::metrics::data::ResourceMetrics;
use mcp::telemetry::opentelemetry_sdk::metrics::exporter::PushMetricExporter;
use mcp::telemetry::opentelemetry_sdk::metrics::{SdkMeterProvider, Temporality};
use mcp::telemetry::opentelemetry_sdk::trace::{
    Sampler, SdkTracerProvider, SpanData, SpanExporter,
};
use mcp::telemetry::{HeadSampling, Telemetry, tracing_opentelemetry};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// A server with the layer, without a subscriber and without metrics.
pub fn without_export() -> Server {
    crate::server(0).layer(Telemetry::server())
}

/// A server whose metrics are collected, without a subscriber.
pub fn with_metrics() -> Server {
    crate::server(0).layer(measured())
}

/// A server whose spans the sampler refuses, without metrics.
pub fn unsampled() -> Server {
    subscribe(Sampler::AlwaysOff);
    crate::server(0).layer(Telemetry::server().without_metrics())
}

/// A server whose metrics are collected, and whose spans are sampled.
pub fn with_export() -> Server {
    subscribe(Sampler::AlwaysOn);
    with_metrics()
}

/// Installs the layer of spans as `mcp::telemetry::export` makes it.
fn subscribe(sampler: Sampler) {
    let sampling = HeadSampling::new(sampler);
    let tracers = SdkTracerProvider::builder()
        .with_simple_exporter(Discard)
        .with_sampler(sampling.clone())
        .build();
    let layer = tracing_opentelemetry::layer()
        .with_location(false)
        .with_threads(false)
        .with_tracked_inactivity(false)
        .with_target(false)
        .with_level(false)
        .with_tracer(tracers.tracer("bench"));
    let _ = tracing_subscriber::registry()
        .with(layer)
        .with(sampling)
        .try_init();
}

fn measured() -> Telemetry {
    let meters = SdkMeterProvider::builder()
        .with_periodic_exporter(Discard)
        .build();
    Telemetry::server().meter(meters.meter("bench"))
}

/// An exporter that discards spans and metrics.
#[derive(Debug)]
struct Discard;

impl SpanExporter for Discard {
    async fn export(&self, _: Vec<SpanData>) -> OTelSdkResult {
        Ok(())
    }
}

impl PushMetricExporter for Discard {
    async fn export(&self, _: &ResourceMetrics) -> OTelSdkResult {
        Ok(())
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
        Ok(())
    }

    fn temporality(&self) -> Temporality {
        Temporality::Cumulative
    }
}

//! Telemetry: traces and metrics by the `OTEL_*` variables, and metrics for Prometheus at `/metrics`.

use std::io::Error;

use axum::Router;
use axum::routing::get;
use http::StatusCode;
use mcp::core::store::MemoryEventStore;
use mcp::http::{Shutdown, termination};
use mcp::prelude::*;
use mcp::telemetry::{self, Guard, MeasuredStore, Telemetry, TraceIds};
use prometheus::{Encoder, Registry, TextEncoder};
use tokio::net::TcpListener;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// The export of traces and metrics. Dropping it exports what is left.
pub(crate) struct Export {
    registry: Registry,
    _guard: Guard,
}

impl Export {
    /// Installs the export, and a log with trace ids on standard error.
    pub(crate) fn install() -> mcp::Result<Self> {
        let registry = Registry::new();
        let reader = opentelemetry_prometheus::exporter()
            .with_registry(registry.clone())
            .build()
            .map_err(Error::other)?;
        let export =
            telemetry::export_with("everything-server", |builder| builder.with_reader(reader));
        let (guard, layer) = export.map_err(Error::other)?;
        let logs = tracing_subscriber::fmt::layer()
            .with_writer(std::io::stderr)
            .event_format(TraceIds::new(tracing_subscriber::fmt::format()));
        tracing_subscriber::registry()
            .with(tracing_subscriber::filter::LevelFilter::INFO)
            .with(layer)
            .with(logs)
            .init();
        Ok(Self {
            registry,
            _guard: guard,
        })
    }

    /// Serves until SIGTERM.
    pub(crate) async fn serve(self, listener: TcpListener, server: Server) -> mcp::Result<()> {
        let shutdown = Shutdown::new();
        let endpoint = StreamableHttp::new(server.layer(Telemetry::server()))
            .events(MeasuredStore::new(MemoryEventStore::new()))
            .shutdown_with(shutdown.clone());
        let watched = endpoint.clone();
        telemetry::watch_endpoint(move || watched.metrics());
        let registry = self.registry.clone();
        let app = Router::new()
            .route_service("/mcp", endpoint)
            .route("/metrics", get(async move || metrics(&registry)));
        eprintln!("listening on http://{}/mcp", listener.local_addr()?);
        let stop = async move {
            termination().await;
            shutdown.drain();
        };
        axum::serve(listener, app)
            .with_graceful_shutdown(stop)
            .await?;
        Ok(())
    }
}

fn metrics(registry: &Registry) -> Result<String, (StatusCode, String)> {
    let mut text = Vec::new();
    let encoded = TextEncoder::new().encode(&registry.gather(), &mut text);
    let failed = |error: String| (StatusCode::INTERNAL_SERVER_ERROR, error);
    encoded.map_err(|error| failed(error.to_string()))?;
    String::from_utf8(text).map_err(|error| failed(error.to_string()))
}

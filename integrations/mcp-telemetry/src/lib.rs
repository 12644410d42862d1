//! Unstable: traces and metrics of servers and clients, by the OpenTelemetry conventions for MCP.
//!
//! Modules, each of which uses only those above it:
//!
//! | module | content |
//! |---|---|
//! | `trace_context` | `traceparent`, `tracestate` and `baggage` in `_meta` |
//! | `sampling` | call sampling before their spans are made |
//! | `network` | the network below a message |
//! | `known_names` | the names that metrics may contain |
//! | `instruments` | the four histograms |
//! | `error_type` | `error.type` and the status of a fault |
//! | `operational` | metrics beyond the conventions |
//! | `measured_store` | latency of stores |
//! | `facts` | the attributes of one operation |
//! | `settings` | the settings of a layer |
//! | `operation` | one operation: its span and its duration |
//! | `observer` | operations of messages that layers do not see |
//! | `telemetry` | the layer |
//! | `log_format` | log lines with trace ids |
//! | `init_error`, `tls`, `init` | export by the `OTEL_*` variables |
//!
//! Conventions: <https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/mcp.md>

mod error_type;
mod facts;
mod init;
mod init_error;
mod instruments;
mod known_names;
mod log_format;
mod measured_store;
mod network;
mod observer;
mod operation;
mod operational;
mod sampling;
mod settings;
mod telemetry;
mod tls;
mod trace_context;

pub use init::{ExportLayer, Guard, export, export_with, init};
pub use init_error::InitError;
pub use instruments::BOUNDARIES;
pub use log_format::TraceIds;
pub use measured_store::MeasuredStore;
pub use operational::{
    watch_auth, watch_auth_with, watch_endpoint, watch_endpoint_with, watch_tasks, watch_tasks_with,
};
pub use sampling::HeadSampling;
pub use telemetry::Telemetry;

/// The API of OpenTelemetry, in the version that this crate uses.
pub use opentelemetry;
/// The SDK of OpenTelemetry, in the version that this crate uses.
pub use opentelemetry_sdk;
/// The connection between `tracing` and OpenTelemetry, in the version that this crate uses.
pub use tracing_opentelemetry;

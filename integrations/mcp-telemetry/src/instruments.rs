//! Histograms of the semantic conventions.

use opentelemetry::metrics::{Histogram, Meter};
use opentelemetry::{InstrumentationScope, global};

/// Histogram boundaries, in seconds.
pub const BOUNDARIES: [f64; 14] = [
    0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0,
];

/// The instrumentation scope's name.
const SCOPE: &str = "mcp";

/// Histograms of the semantic conventions.
#[derive(Debug)]
pub(crate) struct Instruments {
    pub(crate) client_operations: Histogram<f64>,
    pub(crate) server_operations: Histogram<f64>,
    pub(crate) client_sessions: Histogram<f64>,
    pub(crate) server_sessions: Histogram<f64>,
}

impl Instruments {
    pub(crate) fn new(meter: &Meter) -> Self {
        let histogram = |name, description| histogram(meter, name, description);
        Self {
            client_operations: histogram(
                "mcp.client.operation.duration",
                "The duration of a request or notification, from sending it to its response",
            ),
            server_operations: histogram(
                "mcp.server.operation.duration",
                "The duration of a request or notification, from receiving it to its response",
            ),
            client_sessions: histogram(
                "mcp.client.session.duration",
                "The duration of a session, as its client sees it",
            ),
            server_sessions: histogram(
                "mcp.server.session.duration",
                "The duration of a session, as its server sees it",
            ),
        }
    }
}

/// Returns a histogram of durations in seconds.
pub(crate) fn histogram(
    meter: &Meter,
    name: &'static str,
    description: &'static str,
) -> Histogram<f64> {
    let histogram = meter.f64_histogram(name);
    let histogram = histogram.with_unit("s").with_description(description);
    histogram.with_boundaries(BOUNDARIES.to_vec()).build()
}

/// Returns the global meter.
pub(crate) fn global_meter() -> Meter {
    let scope = InstrumentationScope::builder(SCOPE)
        .with_version(env!("CARGO_PKG_VERSION"))
        .build();
    global::meter_with_scope(scope)
}

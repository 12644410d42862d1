//! [`InitError`].

use opentelemetry_otlp::ExporterBuildError;

/// An export that cannot be installed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InitError {
    /// A variable is invalid.
    #[error("the export cannot be configured by the `OTEL_` variables: {0}")]
    Exporter(#[from] ExporterBuildError),
    /// An endpoint is not a URL for the export. The message does not contain the value, because URLs may
    /// contain passwords.
    #[error(
        "`{variable}` is not a URL for the export: {reason}; set it to the URL of a collector, such as \
         http://localhost:4318"
    )]
    Endpoint {
        /// The variable's name.
        variable: &'static str,
        /// The cause.
        reason: String,
    },
    /// The HTTP client cannot be built.
    #[error("the HTTP client of the export cannot be built: {reason}")]
    Client {
        /// The cause.
        reason: String,
    },
    /// The filter of logs is invalid.
    #[error("`RUST_LOG` is not a list of targets and levels: {filter:?}: {reason}")]
    Filter {
        /// The variable's value.
        filter: String,
        /// The cause.
        reason: String,
    },
    /// The program has a `tracing` subscriber already.
    #[error("the program has a tracing subscriber already; use `export` and add its layer there")]
    Subscriber,
}

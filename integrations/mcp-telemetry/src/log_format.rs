//! Log lines with trace ids.

use std::fmt;

use opentelemetry::Context;
use opentelemetry::trace::TraceContextExt;
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// A log format that begins each line inside a trace with `trace_id=… span_id=…`, so that a log
/// system finds the trace. `F` formats the rest of the line.
///
/// [`init`](crate::init) uses it. Use it yourself in a program with a subscriber of its own.
///
/// # Examples
///
/// ```
/// use mcp::telemetry::TraceIds;
///
/// let layer = tracing_subscriber::fmt::layer::<tracing_subscriber::Registry>()
///     .event_format(TraceIds::new(tracing_subscriber::fmt::format()));
/// # drop(layer);
/// ```
#[derive(Debug, Clone, Default)]
pub struct TraceIds<F>(F);

impl<F> TraceIds<F> {
    /// Adds the ids to a format.
    pub fn new(format: F) -> Self {
        Self(format)
    }
}

impl<S, N, F> FormatEvent<S, N> for TraceIds<F>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        // `tracing-opentelemetry` activates the entered span's context.
        let current = Context::current();
        let span = current.span();
        let span = span.span_context();
        if span.is_valid() {
            let (trace_id, span_id) = (span.trace_id(), span.span_id());
            write!(writer, "trace_id={trace_id} span_id={span_id} ")?;
        }
        self.0.format_event(context, writer, event)
    }
}

//! The W3C trace context in `_meta`.
// spec: META-14

use mcp_types::meta as w3c;
use mcp_types::meta::keys;
use mcp_types::{Meta, RawObject};
use opentelemetry::Context;
use opentelemetry::KeyValue;
use opentelemetry::baggage::BaggageExt;
use opentelemetry::trace::{SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

/// Bytes that a baggage value contains without escapes.
const BAGGAGE: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// Parses `_meta`. `None` without a trace context, so that the other keys are not parsed for nothing.
pub(crate) fn read_meta(meta: &RawObject) -> Option<Meta> {
    let has = |key: &str| meta.as_str().contains(key);
    let has_context = has(keys::TRACEPARENT) || has(keys::BAGGAGE);
    has_context.then(|| meta.parse().ok())?
}

/// Returns the context in `_meta`. `None` without a valid `traceparent` and without baggage.
pub(crate) fn extract(meta: &Meta) -> Option<Context> {
    let span = meta.trace().map(|trace| span_context(&trace));
    let baggage = meta.baggage();
    if span.is_none() && baggage.is_none() {
        return None;
    }
    let mut context = Context::new();
    if let Some(span) = span {
        context = context.with_remote_span_context(span);
    }
    if let Some(baggage) = baggage {
        let entries = baggage.iter().map(|(key, value)| {
            let value = percent_decode_str(value).decode_utf8_lossy().into_owned();
            KeyValue::new(key.to_owned(), value)
        });
        context = context.with_baggage(entries.collect::<Vec<_>>());
    }
    Some(context)
}

/// Returns the remote span of the sender.
pub(crate) fn span_context(trace: &w3c::TraceContext) -> SpanContext {
    let state = trace.state.as_ref();
    let state = state.and_then(|state| state.as_str().parse::<TraceState>().ok());
    SpanContext::new(
        TraceId::from(trace.parent.trace_id),
        SpanId::from(trace.parent.parent_id),
        TraceFlags::new(trace.parent.flags),
        true,
        state.unwrap_or_default(),
    )
}

/// Adds a context to `_meta`. Without a valid span, and without baggage, nothing changes.
pub(crate) fn inject(context: &Context, meta: Meta) -> Meta {
    let meta = match to_w3c(context.span().span_context()) {
        Some(trace) => meta.with_trace(&trace),
        None => meta,
    };
    match baggage(context) {
        Some(baggage) => meta.with_baggage(&baggage),
        None => meta,
    }
}

fn to_w3c(span: &SpanContext) -> Option<w3c::TraceContext> {
    if !span.is_valid() {
        return None;
    }
    let trace_id = u128::from_be_bytes(span.trace_id().to_bytes());
    let span_id = u64::from_be_bytes(span.span_id().to_bytes());
    let parent = w3c::TraceParent::new(trace_id, span_id)?;
    let parent = match span.is_sampled() {
        true => parent.sampled(),
        false => parent,
    };
    let trace = w3c::TraceContext::new(parent);
    let state = span.trace_state().header();
    Some(match state.parse() {
        Ok(state) if !span.trace_state().header().is_empty() => trace.state(state),
        _ => trace,
    })
}

fn baggage(context: &Context) -> Option<w3c::Baggage> {
    let entries = context.baggage().iter().map(|(key, (value, _))| {
        let value = utf8_percent_encode(value.as_str(), BAGGAGE);
        format!("{key}={value}")
    });
    let entries: Vec<_> = entries.collect();
    entries.join(",").parse().ok()
}

/// Returns true if the context has something that is sent.
pub(crate) fn is_sent(context: &Context) -> bool {
    context.span().span_context().is_valid() || !context.baggage().is_empty()
}

/// Returns the context around the current task: of its `tracing` span, or else of OpenTelemetry.
pub(crate) fn ambient() -> Context {
    let context = Span::current().context();
    match context.span().span_context().is_valid() {
        true => context,
        false => Context::current(),
    }
}

/// Sets the parent of the span of a message that was received: the sender's span. The ambient span, for
/// example that of the HTTP request, becomes a link. Without a sender's span it is the parent.
pub(crate) fn set_parent(span: &Span, meta: Option<&Meta>, http: Option<&http_trace::Head<'_>>) {
    if span.is_disabled() {
        return;
    }
    let ambient = ambient();
    let ambient_span = ambient.span().span_context().clone();
    let of_http = http.and_then(http_trace::Head::span_context);
    match meta.and_then(extract) {
        Some(sender) => {
            let has_span = sender.span().span_context().is_valid();
            // Baggage without a span keeps the ambient parent.
            let parent = match has_span {
                true => sender,
                false => sender.with_remote_span_context(ambient_span.clone()),
            };
            // An error means that no layer of OpenTelemetry is installed.
            let _ = span.set_parent(parent);
            if has_span {
                let link = match ambient_span.is_valid() {
                    true => Some(ambient_span),
                    false => of_http,
                };
                if let Some(link) = link {
                    span.add_link(link);
                }
            }
        }
        None if ambient_span.is_valid() => {
            let _ = span.set_parent(ambient);
        }
        None => {
            if let Some(remote) = of_http {
                let _ = span.set_parent(ambient.with_remote_span_context(remote));
            }
        }
    }
}

/// The trace context in the head of an HTTP request.
pub(crate) mod http_trace {
    use mcp_core::Extensions;
    use mcp_types::meta as w3c;
    use mcp_types::meta::keys;
    use opentelemetry::trace::SpanContext;

    /// The head of an HTTP request.
    pub(crate) struct Head<'a>(&'a Extensions);

    impl<'a> Head<'a> {
        pub(crate) fn new(extensions: &'a Extensions) -> Self {
            Self(extensions)
        }

        pub(crate) fn span_context(&self) -> Option<SpanContext> {
            let headers = &self.0.parts()?.headers;
            let text = |key: &str| headers.get(key)?.to_str().ok();
            let parent = text(keys::TRACEPARENT)?.trim().parse().ok()?;
            let trace = w3c::TraceContext::new(parent);
            let state = text(keys::TRACESTATE).and_then(|state| state.parse().ok());
            Some(super::span_context(&match state {
                Some(state) => trace.state(state),
                None => trace,
            }))
        }
    }
}

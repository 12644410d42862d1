//! The W3C trace context in `_meta`.

use std::sync::LazyLock;

use http::HeaderName;
use mcp_core::Extensions;
use mcp_types::meta as w3c;
use mcp_types::meta::keys;
use mcp_types::{Meta, RawObject};
use memchr::memchr;
use memchr::memmem::Finder;
use opentelemetry::Context;
use opentelemetry::KeyValue;
use opentelemetry::baggage::BaggageExt;
use opentelemetry::trace::{SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

static TRACEPARENT: HeaderName = HeaderName::from_static(keys::TRACEPARENT);
static TRACESTATE: HeaderName = HeaderName::from_static(keys::TRACESTATE);

/// Bytes that a baggage value contains without escapes.
const BAGGAGE: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// Reads the trace context of `_meta`, and no other keys. `None` without one. Text with escapes is read,
/// too, because keys may be written with them.
pub(crate) fn read_meta(meta: &RawObject) -> Option<Meta> {
    static KEYS: LazyLock<[Finder<'static>; 2]> =
        LazyLock::new(|| [keys::TRACEPARENT, keys::BAGGAGE].map(Finder::new));
    let text = meta.as_str().as_bytes();
    let may_have_context =
        KEYS.iter().any(|key| key.find(text).is_some()) || memchr(b'\\', text).is_some();
    may_have_context.then(|| {
        let is_context =
            |key: &str| [keys::TRACEPARENT, keys::TRACESTATE, keys::BAGGAGE].contains(&key);
        let members = meta.as_raw().members();
        let context = members.filter(|(key, _)| is_context(key));
        context.fold(Meta::default(), |meta, (key, value)| match value.text() {
            Some(text) => meta.with(&*key, &*text),
            None => meta,
        })
    })
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

/// Returns the sender's remote span.
fn span_context(trace: &w3c::TraceContext) -> SpanContext {
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
    let mut parent = w3c::TraceParent::new(trace_id, span_id)?;
    parent.flags |= u8::from(span.is_sampled());
    let mut trace = w3c::TraceContext::from(parent);
    let state = span.trace_state().header();
    trace.state = state.parse().ok().filter(|_| !state.is_empty());
    Some(trace)
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

/// Returns the ambient context: that of the current `tracing` span, or else OpenTelemetry's.
pub(crate) fn ambient() -> Context {
    let span = Span::current();
    if span.is_none() {
        return Context::current();
    }
    let context = span.context();
    if context.span().span_context().is_valid() {
        context
    } else {
        Context::current()
    }
}

/// The place of a message in a trace.
#[derive(Debug, Default)]
pub(crate) struct Origin {
    /// The parent's context. `None`: the ambient one.
    pub(crate) parent: Option<Context>,
    /// A span that is linked.
    pub(crate) link: Option<SpanContext>,
}

impl Origin {
    /// The origin of a message that was received: its parent is the sender's span. The ambient span, for
    /// example that of the HTTP request, becomes a link. Without a sender's span it is the parent.
    pub(crate) fn received(meta: Option<&RawObject>, extensions: Option<&Extensions>) -> Self {
        let ambient = ambient();
        let ambient_span = || {
            let span = ambient.span();
            let span = span.span_context();
            span.is_valid().then(|| span.clone())
        };
        let of_http = || extensions.and_then(http_span);
        let sender = meta.and_then(read_meta);
        let (parent, link) = match sender.as_ref().and_then(extract) {
            Some(sender) if sender.span().span_context().is_valid() => {
                (Some(sender), ambient_span().or_else(of_http))
            }
            // Baggage without a span keeps the ambient parent.
            Some(baggage) => match ambient_span().or_else(of_http) {
                Some(span) => (Some(baggage.with_remote_span_context(span)), None),
                None => (Some(baggage), None),
            },
            None if ambient.span().span_context().is_valid() => (Some(ambient), None),
            None => {
                let parent = of_http().map(|span| ambient.with_remote_span_context(span));
                (parent, None)
            }
        };
        Self { parent, link }
    }

    /// The origin of a message that is sent.
    pub(crate) fn sent() -> Self {
        Self {
            parent: Some(ambient()),
            link: None,
        }
    }

    /// Sets the parent and the link of a span.
    pub(crate) fn apply(self, span: &Span) {
        if let Some(parent) = self.parent {
            // An error means that no layer of OpenTelemetry is installed.
            let _ = span.set_parent(parent);
        }
        if let Some(link) = self.link {
            span.add_link(link);
        }
    }
}

/// Returns the span in the head of an HTTP request.
fn http_span(extensions: &Extensions) -> Option<SpanContext> {
    let headers = &extensions.parts()?.headers;
    // Most requests have no such header, and a lookup hashes its name.
    headers.keys().find(|name| **name == TRACEPARENT)?;
    let text = |key: &HeaderName| headers.get(key)?.to_str().ok();
    let parent: w3c::TraceParent = text(&TRACEPARENT)?.trim().parse().ok()?;
    let mut trace = w3c::TraceContext::from(parent);
    trace.state = text(&TRACESTATE).and_then(|state| state.parse().ok());
    Some(span_context(&trace))
}

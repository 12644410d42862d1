//! Call sampling before their spans are made.
//!
//! `tracing-opentelemetry` samples a span at its first entry, after its attributes were formatted, copied and
//! stored: an unsampled call then takes half as many instructions again. `cargo xtask bench --instructions` has
//! the row `unsampled`.

use std::sync::Arc;

use opentelemetry::trace::{
    Link, SpanContext, SpanId, SpanKind, TraceContextExt, TraceFlags, TraceId,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::trace::{
    Config, IdGenerator, RandomIdGenerator, SamplingDecision, SamplingResult, ShouldSample,
};
use tracing::{Level, Subscriber, dispatcher};
use tracing_subscriber::Layer;

use crate::trace_context::Origin;

/// A sampler that decides about a call before its span is made. A call that is not sampled then costs
/// little, because neither its attributes nor its span exist.
///
/// Add it both to the tracer provider, as its sampler, and to the subscriber, as a layer.
/// [`init`](crate::init) and [`export`](crate::export) do this. Calls that are not sampled have no
/// `mcp.server` or `mcp.client` span for other layers either; their logs have the trace id, and their
/// requests carry the decision in `traceparent`. Without the layer, each call makes a span, and the
/// sampler of the provider decides.
///
/// The wrapped sampler receives the method as the name of the span, and no attributes.
///
/// # Examples
///
/// ```
/// use mcp::telemetry::HeadSampling;
/// use mcp::telemetry::opentelemetry::trace::TracerProvider;
/// use mcp::telemetry::opentelemetry_sdk::trace::{Sampler, SdkTracerProvider};
/// use mcp::telemetry::tracing_opentelemetry;
/// use tracing_subscriber::layer::SubscriberExt;
///
/// // One trace in a hundred, unless the caller has decided.
/// let ratio = Sampler::TraceIdRatioBased(0.01);
/// let sampling = HeadSampling::new(Sampler::ParentBased(Box::new(ratio)));
/// let tracers = SdkTracerProvider::builder()
///     .with_sampler(sampling.clone())
///     .build();
/// let subscriber = tracing_subscriber::registry()
///     .with(tracing_opentelemetry::layer().with_tracer(tracers.tracer("shop")))
///     .with(sampling);
/// # drop(subscriber);
/// ```
#[derive(Debug, Clone)]
pub struct HeadSampling(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    sampler: Box<dyn ShouldSample>,
    ids: RandomIdGenerator,
}

/// The decision about a span with this parent, in the parent's context.
#[derive(Debug)]
struct Decided {
    parent: SpanId,
    decision: SamplingDecision,
}

/// A decision about a call.
#[derive(Debug)]
pub(crate) enum Decision {
    /// The call makes a span.
    Span(Option<Origin>),
    /// The call makes no span. The context is that of the call.
    Refused(Context),
}

impl HeadSampling {
    /// Wraps a sampler.
    pub fn new(sampler: impl Into<Box<dyn ShouldSample>>) -> Self {
        Self(Arc::new(Inner {
            sampler: sampler.into(),
            ids: RandomIdGenerator::default(),
        }))
    }

    /// The sampler of `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG`.
    pub(crate) fn from_env() -> Self {
        Self::new(Config::default().sampler)
    }

    /// Returns the subscriber's layer, if call spans are enabled.
    fn of_subscriber() -> Option<Self> {
        let find = |dispatch: &dispatcher::Dispatch| dispatch.downcast_ref::<Self>().cloned();
        if tracing::span_enabled!(target: "mcp", Level::INFO) {
            dispatcher::get_default(find)
        } else {
            None
        }
    }

    fn decide(&self, kind: &SpanKind, method: &str, origin: Origin) -> Decision {
        let Inner { sampler, ids } = &*self.0;
        let parent = origin.parent.unwrap_or_else(Context::current);
        let span = parent.span().span_context().clone();
        let trace_id = if span.is_valid() {
            span.trace_id()
        } else {
            ids.new_trace_id()
        };
        let result = sampler.should_sample(Some(&parent), trace_id, method, kind, &[], &[]);
        if result.decision != SamplingDecision::Drop {
            let decided = Decided {
                parent: span.span_id(),
                decision: result.decision,
            };
            return Decision::Span(Some(Origin {
                parent: Some(parent.with_value(decided)),
                link: origin.link,
            }));
        }
        // The decision holds for the whole trace, also where it goes on.
        Decision::Refused(if span.is_valid() && !span.is_sampled() {
            parent
        } else {
            let flags = TraceFlags::default();
            let state = result.trace_state;
            let span = SpanContext::new(trace_id, ids.new_span_id(), flags, false, state);
            parent.with_remote_span_context(span)
        })
    }
}

/// Decides about a call, if the subscriber has the layer.
pub(crate) fn decide(kind: &SpanKind, method: &str, origin: impl FnOnce() -> Origin) -> Decision {
    match HeadSampling::of_subscriber() {
        Some(sampling) => sampling.decide(kind, method, origin()),
        None => Decision::Span(None),
    }
}

impl<S: Subscriber> Layer<S> for HeadSampling {}

impl ShouldSample for HeadSampling {
    fn should_sample(
        &self,
        parent: Option<&Context>,
        trace_id: TraceId,
        name: &str,
        kind: &SpanKind,
        attributes: &[KeyValue],
        links: &[Link],
    ) -> SamplingResult {
        let decided = parent.and_then(|parent| {
            let span = parent.span();
            let span = span.span_context();
            let decided: &Decided = parent.get()?;
            // Children of the call span inherit the context, and have another parent.
            (decided.parent == span.span_id()).then(|| SamplingResult {
                decision: decided.decision.clone(),
                attributes: Vec::new(),
                trace_state: span.trace_state().clone(),
            })
        });
        decided.unwrap_or_else(|| {
            self.0
                .sampler
                .should_sample(parent, trace_id, name, kind, attributes, links)
        })
    }
}

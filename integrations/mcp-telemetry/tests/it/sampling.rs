//! Calls that are not sampled.

use std::sync::Arc;

use mcp::middleware::{Exchange, Next, from_fn};
use mcp::prelude::*;
use mcp::telemetry::opentelemetry::trace::{TraceContextExt, TracerProvider};
use mcp::telemetry::opentelemetry::{Context, baggage::BaggageExt};
use mcp::telemetry::{HeadSampling, Telemetry, tracing_opentelemetry};
use mcp::{Client, ProtocolVersion};
use mcp_testing::Pair;
use opentelemetry_sdk::trace::{InMemorySpanExporter, Sampler, SdkTracerProvider, SpanData};
use parking_lot::Mutex;
use serde_json::json;
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::layer::SubscriberExt;

const REFUSED: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
const SAMPLED: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// Records spans that a sampler lets pass, before or after they are made.
struct Sampled {
    spans: InMemorySpanExporter,
    tracers: SdkTracerProvider,
    _subscriber: DefaultGuard,
}

impl Sampled {
    fn start(sampler: Sampler) -> Self {
        let spans = InMemorySpanExporter::default();
        let sampling = HeadSampling::new(sampler);
        let tracers = SdkTracerProvider::builder()
            .with_simple_exporter(spans.clone())
            .with_sampler(sampling.clone())
            .build();
        let layer = tracing_opentelemetry::layer().with_tracer(tracers.tracer("test"));
        let subscriber = tracing_subscriber::registry().with(layer).with(sampling);
        Self {
            spans,
            tracers,
            _subscriber: tracing::subscriber::set_default(subscriber),
        }
    }

    fn spans_of(&self, name: &str) -> Vec<SpanData> {
        self.tracers.force_flush().unwrap();
        let mut spans = self.spans.get_finished_spans().unwrap();
        spans.retain(|span| span.name == name);
        spans
    }
}

fn parent_based(root: Sampler) -> Sampler {
    Sampler::ParentBased(Box::new(root))
}

/// The kind of the layers.
#[derive(Debug, Clone, Copy)]
enum Kind {
    SpansAndMetrics,
    SpansOnly,
}

const KINDS: [Kind; 2] = [Kind::SpansAndMetrics, Kind::SpansOnly];

impl Kind {
    fn of(self, layer: Telemetry) -> Telemetry {
        match self {
            Self::SpansAndMetrics => layer,
            Self::SpansOnly => layer.without_metrics(),
        }
    }
}

/// Calls a tool whose handler makes a span, and returns the `traceparent` that the server has received,
/// the handler's trace context, and its baggage.
async fn call(meta: &[(&str, &str)], kind: Kind) -> (Option<String>, String) {
    let received = Arc::new(Mutex::new(None));
    let seen = Arc::clone(&received);
    let note = move |exchange: Exchange, next: Next| {
        let meta: Option<serde_json::Value> = exchange
            .meta
            .object()
            .and_then(|meta| serde_json::from_str(meta.as_str()).ok());
        *seen.lock() = meta.and_then(|meta| Some(meta["traceparent"].as_str()?.to_owned()));
        async move { next.run(exchange).await }
    };
    let see = || async {
        tokio::task::yield_now().await;
        drop(tracing::info_span!("work").entered());
        let context = Context::current();
        let user = context.baggage().get("user").map(ToString::to_string);
        let span = context.span().span_context().clone();
        let flags = span.trace_flags().to_u8();
        format!("{} {flags} {}", span.trace_id(), user.unwrap_or_default())
    };
    let server = Server::new("shop", "1.0.0")
        .tool(Tool::new("see").handler(see))
        .layer(kind.of(Telemetry::server()))
        .layer(from_fn(note));
    let client = match meta {
        [] => Client::builder().layer(kind.of(Telemetry::client())),
        _ => Client::builder(),
    };
    let pair = Pair::stdio(server)
        .client(client)
        .revision(ProtocolVersion::V2026_07_28);
    let pair = pair.connect().await.unwrap();
    let mut call = pair.client.call("see", json!({}));
    for (key, value) in meta {
        call = call.meta(*key, *value);
    }
    let text = call.await.unwrap().text().to_owned();
    pair.close().await.unwrap();
    let received = received.lock().take();
    (received, text)
}

#[tokio::test]
async fn unsampled_call_has_no_spans_and_says_so_to_the_server_and_to_the_handler() {
    let sampled = Sampled::start(parent_based(Sampler::AlwaysOff));
    for kind in KINDS {
        let (received, seen) = call(&[], kind).await;
        let received = received.unwrap();
        assert!(received.ends_with("-00"), "{received}");
        let trace = received.split('-').nth(1).unwrap();
        assert_eq!(seen, format!("{trace} 0 "));
        for name in ["tools/call see", "work"] {
            assert!(sampled.spans_of(name).is_empty(), "{name}");
        }
    }
}

#[tokio::test]
async fn sampling_decision_by_caller_holds_for_call_and_handler() {
    let sampled = Sampled::start(parent_based(Sampler::AlwaysOn));
    let meta = [("traceparent", REFUSED), ("baggage", "user=Ada")];
    for kind in KINDS {
        let (_, seen) = call(&meta, kind).await;
        assert_eq!(seen, "0af7651916cd43dd8448eb211c80319c 0 Ada");
    }
    assert!(sampled.spans_of("tools/call see").is_empty());
    assert!(sampled.spans_of("work").is_empty());

    let (_, seen) = call(&[("traceparent", SAMPLED)], Kind::SpansOnly).await;
    assert_eq!(seen, "0af7651916cd43dd8448eb211c80319c 1 ");
    let [received] = &sampled.spans_of("tools/call see")[..] else {
        panic!("one span is recorded");
    };
    let [work] = &sampled.spans_of("work")[..] else {
        panic!("one span is recorded");
    };
    assert_eq!(received.parent_span_id.to_string(), "b7ad6b7169203331");
    assert_eq!(work.parent_span_id, received.span_context.span_id());
}

#[tokio::test]
async fn ratio_is_applied_once_to_a_call() {
    let sampled = Sampled::start(parent_based(Sampler::TraceIdRatioBased(0.5)));
    let mut marked = 0;
    for _ in 0..64 {
        let (received, _) = call(&[], Kind::SpansAndMetrics).await;
        marked += usize::from(received.unwrap().ends_with("-01"));
    }
    // A second decision about the new trace id would drop half of them. 2^-64: all or none of them.
    assert!(marked > 0 && marked < 64, "{marked}");
    // The client's span and the server's.
    assert_eq!(sampled.spans_of("tools/call see").len(), 2 * marked);
}

#[tokio::test]
async fn baggage_without_a_trace_does_not_prevent_sampling() {
    let sampled = Sampled::start(parent_based(Sampler::AlwaysOn));
    let (_, seen) = call(&[("baggage", "user=Ada")], Kind::SpansAndMetrics).await;
    assert!(seen.ends_with(" 1 Ada"), "{seen}");
    assert_eq!(sampled.spans_of("tools/call see").len(), 1);
}

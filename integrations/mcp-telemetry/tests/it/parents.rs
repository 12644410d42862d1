//! One trace from the caller to the handler.

use mcp::middleware::{Exchange, Next, from_fn};
use mcp::prelude::*;
use mcp::telemetry::opentelemetry::baggage::BaggageExt;
use mcp::telemetry::opentelemetry::trace::{SpanKind, TraceContextExt};
use mcp::telemetry::opentelemetry::{Context, KeyValue, SpanId};
use mcp::telemetry::tracing_opentelemetry::OpenTelemetrySpanExt;
use mcp::types::RawObject;
use mcp::{Client, ProtocolVersion};
use mcp_testing::Pair;
use serde_json::json;
use tracing::Instrument;

use crate::kit::{Recorder, client, server};

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

async fn check_one_trace(pair: impl Fn(Server) -> Pair, version: ProtocolVersion) {
    let recorder = Recorder::start();
    let pair = pair(server().layer(recorder.server_layer()))
        .client(client().layer(recorder.client_layer()))
        .revision(version);
    let pair = pair.connect().await.unwrap();
    let root = tracing::info_span!("agent");
    let call = pair.client.call("add", json!({}));
    call.into_future().instrument(root.clone()).await.unwrap();
    drop(root);
    pair.close().await.unwrap();

    let root = recorder.span(&SpanKind::Internal, "agent");
    let sent = recorder.span(&SpanKind::Client, "tools/call add");
    let received = recorder.span(&SpanKind::Server, "tools/call add");
    assert_eq!(sent.parent_span_id, root.span_context.span_id());
    assert_eq!(received.parent_span_id, sent.span_context.span_id());
    assert!(received.parent_span_is_remote);
    for span in [sent, received] {
        assert_eq!(span.span_context.trace_id(), root.span_context.trace_id());
    }
}

#[tokio::test]
async fn call_is_one_trace_from_the_caller_to_the_server() {
    for version in [ProtocolVersion::V2026_07_28, ProtocolVersion::V2025_11_25] {
        check_one_trace(Pair::http, version).await;
        check_one_trace(Pair::stdio, version).await;
    }
}

type MakePair = fn(Server) -> Pair;

/// Calls a tool whose handler calls another server, with a client of this library.
async fn check_proxy(front: (MakePair, ProtocolVersion), behind: (MakePair, ProtocolVersion)) {
    let recorder = Recorder::start();
    let traced_client = || Client::builder().layer(recorder.client_layer());
    let origin = server().layer(recorder.server_layer());
    let upstream = behind.0(origin).client(traced_client()).revision(behind.1);
    let upstream = upstream.connect().await.unwrap();
    let client = upstream.client.clone();
    let forward = move || {
        let client = client.clone();
        async move {
            let result = client.call("add", json!({})).await;
            result
                .map(|result| result.text().to_owned())
                .map_err(|error| ToolError::new(error.to_string()))
        }
    };
    let proxy = Server::new("proxy", "1.0.0")
        .tool(Tool::new("forward").handler(forward))
        .layer(recorder.server_layer());
    let downstream = front.0(proxy).client(traced_client()).revision(front.1);
    let downstream = downstream.connect().await.unwrap();
    downstream.client.call("forward", json!({})).await.unwrap();
    downstream.close().await.unwrap();
    upstream.close().await.unwrap();

    let chain = [
        recorder.span(&SpanKind::Client, "tools/call forward"),
        recorder.span(&SpanKind::Server, "tools/call forward"),
        recorder.span(&SpanKind::Client, "tools/call add"),
        recorder.span(&SpanKind::Server, "tools/call add"),
    ];
    assert_eq!(chain[0].parent_span_id, SpanId::INVALID);
    for pair in chain.windows(2) {
        assert_eq!(pair[1].parent_span_id, pair[0].span_context.span_id());
        let trace = |n: usize| pair[n].span_context.trace_id();
        assert_eq!(trace(0), trace(1));
    }
}

#[tokio::test]
async fn proxy_joins_one_trace_over_each_transport_and_era() {
    let kinds: [(MakePair, ProtocolVersion); 4] = [
        (Pair::http, ProtocolVersion::V2026_07_28),
        (Pair::http, ProtocolVersion::V2025_11_25),
        (Pair::stdio, ProtocolVersion::V2026_07_28),
        (Pair::stdio, ProtocolVersion::V2025_11_25),
    ];
    for front in kinds {
        for behind in kinds {
            check_proxy(front, behind).await;
        }
    }
}

#[tokio::test]
async fn question_in_a_session_is_in_the_same_trace_as_its_call() {
    let recorder = Recorder::start();
    let pair = Pair::http(server().layer(recorder.server_layer()))
        .client(client().layer(recorder.client_layer()))
        .revision(ProtocolVersion::V2025_11_25);
    let pair = pair.connect().await.unwrap();
    pair.client.call("ask", json!({})).await.unwrap();
    pair.close().await.unwrap();

    let call = recorder.span(&SpanKind::Server, "tools/call ask");
    let asked = recorder.span(&SpanKind::Client, "elicitation/create");
    let answered = recorder.span(&SpanKind::Server, "elicitation/create");
    assert_eq!(asked.parent_span_id, call.span_context.span_id());
    assert_eq!(answered.parent_span_id, asked.span_context.span_id());
}

#[tokio::test]
async fn span_for_the_http_request_is_a_link() {
    let recorder = Recorder::start();
    let server = server().layer(recorder.server_layer());
    let traced = |mut exchange: Exchange, next: Next| async move {
        exchange.update_meta(|meta| meta.with("traceparent", PARENT));
        next.run(exchange)
            .instrument(tracing::info_span!("POST"))
            .await
    };
    let pair = Pair::http(server.layer(from_fn(traced)))
        .connect()
        .await
        .unwrap();
    pair.client.call("add", json!({})).await.unwrap();
    pair.close().await.unwrap();

    let http = recorder.span(&SpanKind::Internal, "POST");
    let received = recorder.span(&SpanKind::Server, "tools/call add");
    assert_eq!(received.parent_span_id.to_string(), "b7ad6b7169203331");
    let links: Vec<_> = received
        .links
        .iter()
        .map(|link| &link.span_context)
        .collect();
    assert_eq!(links, [&http.span_context]);
}

#[tokio::test]
async fn http_header_is_the_trace_parent_if_there_is_no_meta() {
    let recorder = Recorder::start();
    let server = server().layer(recorder.server_layer());
    let client = Client::builder().header("traceparent", PARENT);
    let pair = Pair::http(server).client(client).connect().await.unwrap();
    pair.client.call("add", json!({})).await.unwrap();
    pair.close().await.unwrap();
    let received = recorder.span(&SpanKind::Server, "tools/call add");
    assert_eq!(received.parent_span_id.to_string(), "b7ad6b7169203331");
}

#[tokio::test]
async fn baggage_and_state_reach_the_handler() {
    let recorder = Recorder::start();
    let server = see_server(&recorder);
    let pair = Pair::http(server)
        .client(Client::builder().layer(recorder.client_layer()))
        .connect()
        .await
        .unwrap();
    // Without the client's layer, the context in `_meta` is another program's.
    let plain = Pair::http(see_server(&recorder)).connect().await.unwrap();
    let call = plain.client.call("see", json!({}));
    let call = call
        .meta("traceparent", PARENT)
        .meta("tracestate", "vendor=1")
        .meta("baggage", "user=Ada%20L");
    assert_eq!(call.await.unwrap().text(), "Ada L vendor=1");

    let span = tracing::info_span!("agent");
    let baggage = Context::new().with_baggage([KeyValue::new("user", "Bob M")]);
    let _ = span.set_parent(baggage);
    let call = pair.client.call("see", json!({}));
    let result = call.into_future().instrument(span).await.unwrap();
    assert_eq!(result.text(), "Bob M ");
}

fn see_server(recorder: &Recorder) -> Server {
    let see = || async {
        let context = tracing::Span::current().context();
        let user = context.baggage().get("user").map(ToString::to_string);
        let state = context.span().span_context().trace_state().header();
        format!("{} {state}", user.unwrap_or_default())
    };
    Server::new("shop", "1.0.0")
        .tool(Tool::new("see").handler(see))
        .layer(recorder.server_layer())
}

#[tokio::test]
async fn progress_is_in_the_same_trace_as_its_call() {
    for version in [ProtocolVersion::V2026_07_28, ProtocolVersion::V2025_11_25] {
        for pair in [Pair::http as MakePair, Pair::stdio, Pair::messages] {
            let recorder = Recorder::start();
            let work = async |progress: Progress| {
                progress.report(1.0, 2.0, "half").await;
                "done"
            };
            let server = Server::new("shop", "1.0.0")
                .tool(Tool::new("work").handler(work))
                .layer(recorder.server_layer());
            let client = Client::builder().layer(recorder.client_layer());
            let pair = pair(server).client(client).revision(version);
            let pair = pair.connect().await.unwrap();
            let call = pair.client.call("work", json!({}));
            call.on_progress(|_| {}).await.unwrap();
            pair.close().await.unwrap();

            let call = recorder.span(&SpanKind::Server, "tools/call work");
            let sent = recorder.span(&SpanKind::Client, "notifications/progress");
            let received = recorder.span(&SpanKind::Server, "notifications/progress");
            assert_eq!(sent.parent_span_id, call.span_context.span_id());
            assert_eq!(received.parent_span_id, sent.span_context.span_id());
            assert!(received.parent_span_is_remote);
        }
    }
}

#[tokio::test]
async fn trace_under_a_key_with_escapes_is_the_parent() {
    let recorder = Recorder::start();
    let server = server().layer(recorder.server_layer());
    let escaped = |mut exchange: Exchange, next: Next| async move {
        let meta = exchange.meta.object().unwrap();
        let key = r#"{"\u0074r\u0061ceparent":""#;
        let meta = meta.as_str().replacen('{', &format!("{key}{PARENT}\","), 1);
        exchange.meta = RawObject::from_text(meta).unwrap().into();
        next.run(exchange).await
    };
    let pair = Pair::http(server.layer(from_fn(escaped)))
        .connect()
        .await
        .unwrap();
    pair.client.call("add", json!({})).await.unwrap();
    pair.close().await.unwrap();
    let received = recorder.span(&SpanKind::Server, "tools/call add");
    assert_eq!(received.parent_span_id.to_string(), "b7ad6b7169203331");
}

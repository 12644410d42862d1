//! Every span and every metric of one scenario, in each era and over each transport.

use expect_test::{ExpectFile, expect_file};
use mcp::ProtocolVersion;
use mcp::telemetry::opentelemetry::trace::SpanKind;
use mcp_testing::Pair;
use serde_json::json;

use crate::kit::{Recorder, client, server};

/// Lists, calls, fails, asks, reads, and compares all spans and metrics with a file.
async fn check(pair: impl Fn(mcp::Server) -> Pair, version: ProtocolVersion, expected: ExpectFile) {
    let recorder = Recorder::start();
    let server = server().layer(recorder.server_layer());
    let pair = pair(server)
        .client(client().layer(recorder.client_layer()))
        .revision(version);
    let pair = pair.connect().await.unwrap();
    let client = &pair.client;
    client.list_tools().await.unwrap();
    client.call("add", json!({})).await.unwrap();
    assert!(client.call("fail", json!({})).await.unwrap().is_error());
    client.call("missing", json!({})).await.unwrap_err();
    client.call("ask", json!({})).await.unwrap();
    client.get_prompt("greet", json!({})).await.unwrap();
    client.read_resource("shop://list").await.unwrap();
    client
        .read_resource("shop://u:p@x/y?token=1")
        .await
        .unwrap_err();
    client.ping().await.ok();
    pair.close().await.unwrap();
    let table = format!("{}\n{}", recorder.span_table(), recorder.metric_table());
    expected.assert_eq(&table);
}

#[tokio::test]
async fn http_modern_has_the_spans_and_metrics_in_the_table() {
    let expected = expect_file!["tables/http-2026-07-28.txt"];
    check(Pair::http, ProtocolVersion::V2026_07_28, expected).await;
}

#[tokio::test]
async fn http_legacy_has_the_spans_and_metrics_in_the_table() {
    let expected = expect_file!["tables/http-2025-11-25.txt"];
    check(Pair::http, ProtocolVersion::V2025_11_25, expected).await;
}

#[tokio::test]
async fn stdio_modern_has_the_spans_and_metrics_in_the_table() {
    let expected = expect_file!["tables/stdio-2026-07-28.txt"];
    check(Pair::stdio, ProtocolVersion::V2026_07_28, expected).await;
}

#[tokio::test]
async fn stdio_legacy_has_the_spans_and_metrics_in_the_table() {
    let expected = expect_file!["tables/stdio-2025-11-25.txt"];
    check(Pair::stdio, ProtocolVersion::V2025_11_25, expected).await;
}

#[tokio::test]
async fn layer_without_metrics_records_spans_only() {
    for (without, has_metrics) in [(false, true), (true, false)] {
        let recorder = Recorder::start();
        let layer = recorder.server_layer();
        let layer = if without {
            layer.without_metrics()
        } else {
            layer
        };
        let pair = Pair::http(server().layer(layer)).connect().await.unwrap();
        pair.client.call("add", json!({})).await.unwrap();
        recorder.span(&SpanKind::Server, "tools/call add");
        pair.close().await.unwrap();
        assert_eq!(recorder.has_metrics(), has_metrics);
    }
}

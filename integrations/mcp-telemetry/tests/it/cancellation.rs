//! Spans of cancellations, in both directions.

use std::future::pending;
use std::sync::Arc;

use mcp::prelude::*;
use mcp::telemetry::opentelemetry::trace::SpanKind;
use mcp::{Client, ElicitRequest, ProtocolVersion};
use mcp_testing::Pair;
use opentelemetry_sdk::trace::SpanData;
use serde_json::json;
use tokio::sync::Notify;
use tokio::task::yield_now;

use crate::kit::{Recorder, attribute, server};

const CANCELLED: &str = "notifications/cancelled";

/// Waits until `count` received cancellations are recorded, and returns those that were sent and those
/// that were received.
async fn cancellations(recorder: &Recorder, count: usize) -> (Vec<SpanData>, Vec<SpanData>) {
    for _ in 0..10_000 {
        let mut spans = recorder.spans();
        spans.retain(|span| span.name == CANCELLED);
        let is_sent = |span: &SpanData| span.span_kind == SpanKind::Client;
        let (sent, received): (Vec<_>, Vec<_>) = spans.into_iter().partition(is_sent);
        if received.len() >= count {
            return (sent, received);
        }
        yield_now().await;
    }
    panic!("{count} cancellations were not recorded");
}

type MakePair = fn(Server) -> Pair;

async fn check_cancelled_call(pair: MakePair, version: ProtocolVersion) {
    let recorder = Recorder::start();
    let started = Arc::new(Notify::new());
    let wait = {
        let started = Arc::clone(&started);
        move || {
            started.notify_one();
            pending::<String>()
        }
    };
    let server = Server::new("shop", "1.0.0")
        .tool(Tool::new("wait").handler(wait))
        .layer(recorder.server_layer());
    let pair = pair(server)
        .client(Client::builder().layer(recorder.client_layer()))
        .revision(version);
    let pair = pair.connect().await.unwrap();
    let mut call = pair.client.call("wait", json!({})).into_future();
    tokio::select! {
        _ = &mut call => panic!("the call does not end"),
        () = started.notified() => {}
    }
    drop(call);
    let (sent, received) = cancellations(&recorder, 1).await;
    pair.close().await.unwrap();

    let call = recorder.span(&SpanKind::Client, "tools/call wait");
    assert_eq!(attribute(&call, "error.type").unwrap(), "cancelled");
    let ([sent], [received]) = (&sent[..], &received[..]) else {
        panic!("one cancellation is sent");
    };
    assert_eq!(sent.parent_span_id, call.span_context.span_id());
    assert_eq!(received.parent_span_id, sent.span_context.span_id());
    assert_eq!(attribute(sent, "jsonrpc.request.id"), None);
}

#[tokio::test]
async fn cancelled_call_leaves_a_cancel_span_on_both_sides() {
    check_cancelled_call(Pair::stdio, ProtocolVersion::V2026_07_28).await;
    check_cancelled_call(Pair::stdio, ProtocolVersion::V2025_11_25).await;
    check_cancelled_call(Pair::http, ProtocolVersion::V2025_11_25).await;
}

#[tokio::test]
async fn cancelled_question_leaves_a_cancel_span_on_both_sides() {
    let recorder = Recorder::start();
    let started = Arc::new(Notify::new());
    let asked = Arc::clone(&started);
    let client = Client::builder()
        .on_elicit(move |_: ElicitRequest| {
            asked.notify_one();
            pending::<mcp::Result<ElicitResult>>()
        })
        .layer(recorder.client_layer());
    let pair = Pair::stdio(server().layer(recorder.server_layer()))
        .client(client)
        .revision(ProtocolVersion::V2025_11_25);
    let pair = pair.connect().await.unwrap();
    let mut call = pair.client.call("ask", json!({})).into_future();
    tokio::select! {
        _ = &mut call => panic!("the call does not end"),
        () = started.notified() => {}
    }
    drop(call);
    // The call is cancelled first, then the question.
    let (sent, received) = cancellations(&recorder, 2).await;
    pair.close().await.unwrap();
    assert_eq!(sent.len(), 2);
    for received in received {
        let mut ids = sent.iter().map(|sent| sent.span_context.span_id());
        assert!(ids.any(|id| id == received.parent_span_id));
    }
}

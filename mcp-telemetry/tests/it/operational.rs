//! Metrics beyond the conventions.

use futures::executor::block_on;
use mcp::core::store::{MemorySessionStore, SessionStore};
use mcp::prelude::*;
use mcp::telemetry::{MeasuredStore, watch_endpoint_with};

use crate::kit::{Recorder, server};

#[tokio::test]
async fn endpoint_reports_sessions_and_refused_requests() {
    let recorder = Recorder::start();
    let endpoint = StreamableHttp::new(server());
    let watched = endpoint.clone();
    watch_endpoint_with(&recorder.meter(), move || watched.metrics());
    let post = |host: &str, body: &'static str| {
        let request = http::Request::post("/mcp")
            .header("host", host)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        let (parts, body) = request.body(body).unwrap().into_parts();
        endpoint.handle(parts, body.into())
    };
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
    assert_eq!(post("localhost", initialize).await.status(), 200);
    assert_eq!(post("attacker.example", initialize).await.status(), 403);
    let numbers = recorder.number_table();
    for line in [
        "mcp.sdk.sessions [{session}] | 1",
        "mcp.sdk.streams [{stream}] | 0",
        "mcp.sdk.subscriptions [{subscription}] | 0",
        "mcp.sdk.requests.refused [{request}] http.response.status_code=403 | 1",
    ] {
        assert!(numbers.contains(line), "{line} is missing in {numbers}");
    }
}

#[test]
fn store_reports_its_operations() {
    let recorder = Recorder::start();
    let store = MeasuredStore::with_meter(MemorySessionStore::new(), &recorder.meter());
    assert!(block_on(store.load("a")).unwrap().is_none());
    block_on(store.remove("a")).unwrap();
    let table = recorder.metric_table();
    for line in [
        "mcp.sdk.store.operation.duration | operation=remove | 1",
        "mcp.sdk.store.operation.duration | operation=load | 1",
    ] {
        assert!(table.contains(line), "{line} is missing in {table}");
    }
}

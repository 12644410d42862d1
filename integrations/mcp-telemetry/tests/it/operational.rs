//! Metrics beyond the conventions.

use std::sync::Arc;

use futures::executor::block_on;
use mcp::auth::{ResourceServer, StaticTokens};
use mcp::core::store::{MemorySessionStore, SessionStore};
use mcp::prelude::*;
use mcp::tasks::{TaskMode, Tasks};
use mcp::telemetry::{MeasuredStore, watch_auth_with, watch_endpoint_with, watch_tasks_with};
use mcp::{Client, StdioServer};
use mcp_testing::Pair;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::sync::Notify;
use tower_service::Service;

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
        "mcp.sdk.queue.size [By] | 0",
        "mcp.sdk.requests.refused [{request}] http.response.status_code=403 | 1",
    ] {
        assert!(numbers.contains(line), "{line} is missing in {numbers}");
    }
}

#[tokio::test]
async fn pipe_reports_its_session_and_refused_messages() {
    let recorder = Recorder::start();
    let pipe = StdioServer::new(server());
    watch_endpoint_with(&recorder.meter(), pipe.metrics_reader());
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (reader, writer) = tokio::io::split(theirs);
    let serving = tokio::spawn(pipe.run_over(reader, writer));
    let (reader, mut writer) = tokio::io::split(ours);
    let mut lines = BufReader::new(reader).lines();
    let mut answers = Vec::new();
    for line in ["not JSON", NAMELESS, INITIALIZE] {
        writer
            .write_all(format!("{line}\n").as_bytes())
            .await
            .unwrap();
        answers.push(lines.next_line().await.unwrap().unwrap());
    }
    let numbers = recorder.number_table();
    for line in [
        "mcp.sdk.sessions [{session}] | 1",
        "mcp.sdk.queue.size [By] | 0",
        "mcp.sdk.requests.refused [{request}] rpc.response.status_code=-32700 | 1",
        "mcp.sdk.requests.refused [{request}] rpc.response.status_code=-32602 | 1",
    ] {
        assert!(
            numbers.contains(line),
            "{line} is missing in {numbers}: {answers:?}"
        );
    }
    drop((writer, lines));
    serving.await.unwrap().unwrap();
    assert!(
        recorder
            .number_table()
            .contains("mcp.sdk.sessions [{session}] | 0")
    );
}

#[tokio::test]
async fn protection_reports_accepted_and_refused_tokens() {
    let recorder = Recorder::start();
    let tokens = StaticTokens::new().token("valid", "ada", ["files:read"]);
    let resource = ResourceServer::new("http://127.0.0.1/mcp").static_tokens(tokens);
    let protection = resource.build().unwrap();
    let watched = protection.clone();
    watch_auth_with(&recorder.meter(), move || watched.metrics());
    let mut endpoint = protection.protect(StreamableHttp::new(server()));
    for (authorization, status) in [
        (Some("Bearer valid"), 200),
        (Some("Bearer other"), 401),
        (Some("Bearer other"), 401),
        (Some("Bearer a b"), 400),
        (None, 401),
    ] {
        let mut request = http::Request::post("/mcp")
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        if let Some(authorization) = authorization {
            request = request.header("authorization", authorization);
        }
        let request = request.body(INITIALIZE.to_owned()).unwrap();
        let response = endpoint.call(request).await.unwrap();
        assert_eq!(response.status(), status, "{authorization:?}");
    }
    let numbers = recorder.number_table();
    for line in [
        "mcp.sdk.auth.requests [{request}] outcome=accepted | 1",
        "mcp.sdk.auth.requests [{request}] outcome=refused reason=invalid_request | 1",
        "mcp.sdk.auth.requests [{request}] outcome=refused reason=invalid_token | 2",
        "mcp.sdk.auth.requests [{request}] outcome=refused reason=no_token | 1",
    ] {
        assert!(numbers.contains(line), "{line} is missing in {numbers}");
    }
}

#[tokio::test]
async fn tasks_are_reported_by_status() {
    let recorder = Recorder::start();
    let tasks = Tasks::in_memory();
    watch_tasks_with(&recorder.meter(), tasks.metrics_reader());
    let gate = Arc::new(Notify::new());
    let opened = gate.clone();
    let wait = move || {
        let gate = gate.clone();
        async move {
            gate.notified().await;
            "done"
        }
    };
    let server = Server::new("studio", "1.0.0")
        .tool(Tool::new("wait").handler(wait).task(TaskMode::Always))
        .tasks(tasks);
    let pair = Pair::http(server).client(Client::builder().tasks());
    let pair = pair.connect().await.unwrap();
    let start = || pair.client.call("wait", json!({})).start();
    let (first, second) = (start().await.unwrap(), start().await.unwrap());
    let check = |line: &str| {
        let numbers = recorder.number_table();
        assert!(numbers.contains(line), "{line} is missing in {numbers}");
    };
    check("mcp.sdk.tasks [{task}] status=working | 2");
    opened.notify_one();
    opened.notify_one();
    for task in [first, second] {
        assert_eq!(task.result().await.unwrap().text(), "done");
    }
    check("mcp.sdk.tasks [{task}] status=working | 0");
    check("mcp.sdk.tasks [{task}] status=input_required | 0");
    check("mcp.sdk.tasks.ended [{task}] status=completed | 2");
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
const NAMELESS: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{}}"#;

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

//! The end of operations, and which ends are failures.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use mcp::events::{EventClient, EventQuery, EventType, Events};
use mcp::prelude::*;
use mcp::tasks::{TaskMode, Tasks};
use mcp::telemetry::opentelemetry::trace::SpanKind;
use mcp_testing::{Connected, Pair};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::Notify;
use tokio::task::yield_now;

use crate::kit::{Recorder, attribute};

const CALLS: &str = "mcp.server.operation.duration";

/// A server whose tools become tasks, and wait.
async fn connect(recorder: &Recorder, gate: &Arc<Notify>) -> Connected {
    let (done, fails) = (gate.clone(), gate.clone());
    let done = move || {
        let gate = done.clone();
        async move {
            gate.notified().await;
            "done"
        }
    };
    let fails = move || {
        let gate = fails.clone();
        async move {
            gate.notified().await;
            Err::<String, _>(ToolError::new("no paper"))
        }
    };
    let server = Server::new("studio", "1.0.0")
        .tool(Tool::new("done").handler(done).task(TaskMode::Always))
        .tool(Tool::new("fails").handler(fails).task(TaskMode::Always))
        .tasks(Tasks::in_memory())
        .layer(recorder.server_layer());
    let pair = Pair::http(server).client(Client::builder().tasks());
    pair.connect().await.unwrap()
}

/// Returns a tool's measured calls.
fn measured(recorder: &Recorder, tool: &str) -> Vec<String> {
    let table = recorder.metric_table();
    let tool = format!("gen_ai.tool.name={tool} ");
    let rows = table.lines().filter(|row| row.starts_with(CALLS));
    let calls = rows.filter(|row| row.contains(&tool));
    calls.map(str::to_owned).collect()
}

#[tokio::test]
async fn task_is_measured_until_it_ends() {
    let recorder = Recorder::start();
    let gate = Arc::new(Notify::new());
    let pair = connect(&recorder, &gate).await;
    // The names of the tools are known then.
    pair.client.list_tools().await.unwrap();
    for (tool, failure) in [("done", None), ("fails", Some("tool_error"))] {
        let task = pair.client.call(tool, json!({})).start().await.unwrap();
        assert!(measured(&recorder, tool).is_empty(), "the task runs");
        gate.notify_one();
        assert_eq!(task.result().await.unwrap().is_error(), failure.is_some());
        let [row] = &measured(&recorder, tool)[..] else {
            panic!("one call of {tool}: {}", recorder.metric_table());
        };
        assert_eq!(
            row.contains("error.type=tool_error"),
            failure.is_some(),
            "{row}"
        );
        let span = recorder.span(&SpanKind::Server, &format!("tools/call {tool}"));
        assert_eq!(attribute(&span, "error.type").as_deref(), failure);
    }
}

#[tokio::test]
async fn cancelled_task_ends_as_a_cancelled_call() {
    let recorder = Recorder::start();
    let pair = connect(&recorder, &Arc::new(Notify::new())).await;
    pair.client.list_tools().await.unwrap();
    let task = pair.client.call("done", json!({})).start().await.unwrap();
    task.cancel().await.unwrap();
    for _ in 0..10_000 {
        if let [row] = &measured(&recorder, "done")[..] {
            assert!(row.contains("error.type=cancelled"), "{row}");
            return;
        }
        yield_now().await;
    }
    panic!("the call was not measured: {}", recorder.metric_table());
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Order {
    number: u64,
}

#[tokio::test]
async fn stream_that_its_client_ends_is_not_a_failure() {
    let recorder = Recorder::start();
    let events = Events::new().event(EventType::<Order>::new("order.placed").push());
    let server = Server::new("shop", "1.0.0")
        .extension(events.clone())
        .layer(recorder.server_layer());
    let client = Client::builder()
        .extension(Events::new())
        .layer(recorder.client_layer());
    let pair = Pair::http(server).client(client).connect().await.unwrap();
    let mut stream = EventClient::new(&pair.client)
        .unwrap()
        .stream(EventQuery::new("order.placed"));
    loop {
        events.publish(&Order { number: 1 }).await.unwrap();
        let first = tokio::time::timeout(Duration::from_millis(50), stream.next()).await;
        if first.is_ok() {
            break;
        }
    }
    drop(stream);
    let is_stream = |kind: &SpanKind| {
        let spans = recorder.spans().into_iter();
        let mut spans =
            spans.filter(|span| span.span_kind == *kind && span.name == "events/stream");
        spans.next()
    };
    for kind in [SpanKind::Client, SpanKind::Server] {
        let mut ended = None;
        for _ in 0..10_000 {
            ended = is_stream(&kind);
            if ended.is_some() {
                break;
            }
            yield_now().await;
        }
        let ended = ended.unwrap_or_else(|| panic!("{kind:?} has not ended"));
        assert_eq!(attribute(&ended, "error.type"), None, "{kind:?}");
    }
}

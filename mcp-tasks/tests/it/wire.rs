//! Tasks as messages over HTTP: a subscription to tasks, and the modes of the attribute macro.

use std::time::Duration;

use futures::StreamExt;
use http::Request;
use http_body_util::BodyExt;
use mcp::StreamableHttp;
use mcp::prelude::*;
use mcp::tasks::{TaskMode, Tasks};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};
use tower_service::Service as _;

use crate::kit::server;

const TASKS: &str = "io.modelcontextprotocol/tasks";

/// Sends a modern request, and returns the stream of its messages.
async fn send(
    endpoint: &StreamableHttp,
    method: &str,
    mut params: Value,
    declares: bool,
) -> impl futures::Stream<Item = Value> + Unpin + use<> {
    let extensions = if declares {
        json!({TASKS: {}})
    } else {
        json!({})
    };
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"extensions": extensions},
    });
    let name = params["taskId"].as_str().or(params["name"].as_str());
    let mut request = Request::post("/mcp")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", method);
    if let Some(name) = name {
        request = request.header("mcp-name", name);
    }
    let message = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
    let request = request.body(message.to_string()).unwrap();
    let response = endpoint.clone().call(request).await.unwrap();
    let messages = response.into_body().into_data_stream().map(|data| {
        let text = String::from_utf8(data.unwrap().to_vec()).unwrap();
        let lines = text
            .lines()
            .map(|line| line.strip_prefix("data: ").unwrap_or(line));
        let json = lines.filter(|line| line.starts_with('{'));
        let json = json.map(|line| serde_json::from_str(line).unwrap());
        futures::stream::iter(json.collect::<Vec<Value>>())
    });
    Box::pin(messages.flatten())
}

async fn first(endpoint: &StreamableHttp, method: &str, params: Value, declares: bool) -> Value {
    send(endpoint, method, params, declares)
        .await
        .next()
        .await
        .unwrap()
}

// spec: TASK-19
#[tokio::test(start_paused = true)]
async fn listen_stream_carries_states_for_its_tasks() {
    // spec: TASK-20, SUB-13
    let (server, _) = server(Tasks::in_memory(), TaskMode::Always);
    let endpoint = StreamableHttp::new(server);
    let call = json!({"name": "slow", "arguments": {"ms": 1000}});
    let created = first(&endpoint, "tools/call", call, true).await;
    let id = created["result"]["taskId"].as_str().unwrap().to_owned();

    let listen = json!({"notifications": {"taskIds": [id, "unknown"]}});
    let refused = first(&endpoint, "subscriptions/listen", listen.clone(), false).await;
    assert_eq!(refused["error"]["code"], -32021, "{refused}");
    let mut stream = send(&endpoint, "subscriptions/listen", listen, true).await;
    let acknowledged = stream.next().await.unwrap();
    assert_eq!(
        acknowledged["method"],
        "notifications/subscriptions/acknowledged"
    );
    let granted = json!({"taskIds": [id]});
    assert_eq!(acknowledged["params"]["notifications"], granted);
    let mut states = Vec::new();
    while let Ok(Some(message)) = timeout(Duration::from_secs(10), stream.next()).await {
        assert_eq!(message["method"], "notifications/tasks", "{message}");
        let params = &message["params"];
        assert_eq!(params["_meta"]["io.modelcontextprotocol/subscriptionId"], 7);
        assert_eq!(params["taskId"], id);
        states.push(params["status"].as_str().unwrap().to_owned());
        if states.last().unwrap() == "completed" {
            let text = &params["result"]["content"][0]["text"];
            assert_eq!(text, "done after 1000 ms");
        }
    }
    assert_eq!(states, ["working", "completed"]);
}

#[tool(task = "never")]
async fn never() -> &'static str {
    sleep(Duration::from_secs(5)).await;
    "done"
}

#[tool(task = "after 1s")]
async fn after() -> &'static str {
    sleep(Duration::from_secs(5)).await;
    "done"
}

#[tool(task = "after 10s")]
async fn soon() -> &'static str {
    sleep(Duration::from_secs(5)).await;
    "done"
}

#[tool(task = "always")]
async fn always() -> &'static str {
    "done"
}

#[tool(task = "required")]
async fn required() -> &'static str {
    "done"
}

#[tool(task = TaskMode::After(Duration::from_millis(10)))]
async fn computed() -> &'static str {
    sleep(Duration::from_secs(5)).await;
    "done"
}

// spec: TASK-04
#[tokio::test(start_paused = true)]
async fn attribute_sets_the_task_mode_for_a_tool() {
    // spec: TASK-06
    let server = Server::new("modes", "1.0.0")
        .tool(never)
        .tool(after)
        .tool(soon)
        .tool(always)
        .tool(required)
        .tool(computed)
        .tasks(Tasks::in_memory());
    server.check().unwrap();
    let endpoint = StreamableHttp::new(server);
    for (tool, declared, undeclared) in [
        ("never", "complete", "complete"),
        ("after", "task", "complete"),
        ("soon", "complete", "complete"),
        ("always", "task", "complete"),
        ("required", "task", "-32021"),
        ("computed", "task", "complete"),
    ] {
        for (declares, expected) in [(true, declared), (false, undeclared)] {
            let params = json!({"name": tool, "arguments": {}});
            let reply = first(&endpoint, "tools/call", params, declares).await;
            let kind = match reply["result"]["resultType"].as_str() {
                Some(kind) => kind.to_owned(),
                None => reply["error"]["code"].to_string(),
            };
            assert_eq!(kind, expected, "{tool} {declares} {reply}");
        }
    }
}

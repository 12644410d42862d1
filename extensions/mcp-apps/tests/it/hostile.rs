//! Views that break the rules.

use std::sync::Arc;
use std::time::Duration;

use mcp::apps::{HostBridge, ViewError};
use serde_json::json;
use tokio::sync::Semaphore;

use crate::kit::{client, connect, connect_ready};

fn bridge() -> HostBridge {
    HostBridge::new("host", "1.0.0")
}

// spec: APP-08
#[tokio::test]
async fn tool_for_models_is_refused_to_the_view() {
    let bridge = bridge().serve(client().await);
    let (_view, mut scripted, _connection) = connect_ready(bridge, json!({})).await;
    let refused = scripted
        .request("tools/call", json!({"name": "secret"}))
        .await;
    assert_eq!(
        refused["error"],
        json!({"code": -32000, "message": "the tool is for the language model, views cannot call it"})
    );
    let unknown = scripted.request("tools/call", json!({"name": "rm"})).await;
    assert_eq!(unknown["error"]["code"], -32000);
}

// spec: APP-13
#[tokio::test]
async fn unknown_methods_and_missing_capabilities_are_refused() {
    let (_view, mut scripted, _connection) = connect_ready(bridge(), json!({})).await;
    for method in [
        "ui/open-link",
        "tools/call",
        "sampling/createMessage",
        "ui/x",
        "resources/list",
    ] {
        let refused = scripted.request(method, json!({})).await;
        assert_eq!(refused["error"]["code"], -32601, "{method}");
    }
    let again = scripted
        .request("ui/initialize", json!({"appCapabilities": {}}))
        .await;
    assert_eq!(again["error"]["code"], -32600);
}

#[tokio::test]
async fn request_before_initialize_is_refused() {
    let bridge = bridge().serve(client().await);
    let (_view, mut scripted, _connection) = connect(bridge);
    let refused = scripted
        .request("tools/call", json!({"name": "shared"}))
        .await;
    assert_eq!(refused["error"]["code"], -32600);
    assert_eq!(
        scripted.request("ping", json!({})).await["result"],
        json!({})
    );
}

#[tokio::test]
async fn message_beyond_the_limit_ends_the_connection() {
    let bridge = bridge().limits(|limits| limits.message_bytes = 1000);
    let (view, mut scripted, connection) = connect_ready(bridge, json!({})).await;
    scripted
        .notify("notifications/message", json!({"data": "x".repeat(1000)}))
        .await;
    let error = connection.await.unwrap().unwrap_err();
    assert!(matches!(
        error,
        ViewError::MessageTooLarge { limit: 1000, .. }
    ));
    assert_eq!(view.ready().await, Err(ViewError::Closed));
}

#[tokio::test]
async fn answers_with_wrong_ids_and_invalid_messages_end_the_connection() {
    let bridge = bridge().limits(|limits| limits.invalid_messages = 5);
    let (view, mut scripted, connection) = connect_ready(bridge, json!({})).await;
    let handle = view.clone();
    let teardown = tokio::spawn(async move { handle.teardown("closed").await });
    let request = scripted.receive().await;
    let wrong = json!(format!("{}", request["id"]));
    for message in [
        json!({"jsonrpc": "2.0", "id": wrong, "result": {}}),
        json!({"jsonrpc": "2.0", "id": 77, "result": {}}),
        json!({"jsonrpc": "2.0", "id": 1, "result": {}, "error": {"code": 1, "message": ""}}),
        json!({"jsonrpc": "1.0", "id": 1, "result": {}}),
        json!([]),
    ] {
        scripted.send(message).await;
    }
    tokio::task::yield_now().await;
    assert!(!teardown.is_finished());
    scripted.send_text("{".to_owned()).await;
    let error = connection.await.unwrap().unwrap_err();
    assert!(
        matches!(error, ViewError::TooManyInvalid { count: 6 }),
        "{error}"
    );
    assert_eq!(teardown.await.unwrap(), Err(ViewError::Closed));
}

#[tokio::test]
async fn request_flood_is_refused_beyond_the_limit() {
    // spec: APP-24
    let gate = Arc::new(Semaphore::new(0));
    let opened = gate.clone();
    let bridge = bridge()
        .limits(|limits| limits.running_requests = 2)
        .on_open_link(move |_| {
            let gate = opened.clone();
            async move {
                let _permit = gate.acquire().await;
                Ok(())
            }
        });
    let (_view, mut scripted, _connection) = connect_ready(bridge, json!({})).await;
    for id in 0..5 {
        let params = json!({"url": "https://a.example"});
        scripted
            .send(json!({"jsonrpc": "2.0", "id": id, "method": "ui/open-link", "params": params}))
            .await;
    }
    for id in 2..5 {
        let refused = scripted.receive().await;
        assert_eq!(
            (&refused["id"], &refused["error"]["code"]),
            (&json!(id), &json!(-32000))
        );
    }
    gate.add_permits(2);
    for _ in 0..2 {
        assert_eq!(scripted.receive().await["result"], json!({}));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn notification_flood_is_dropped_beyond_the_queue() {
    let (release, gate) = std::sync::mpsc::channel::<()>();
    let gate = std::sync::Mutex::new(gate);
    let (sender, mut handled) = tokio::sync::mpsc::unbounded_channel();
    let bridge = bridge()
        .limits(|limits| limits.queued_notifications = 4)
        .on_size(move |_| {
            // Ends when the test drops the other side.
            let _ = gate.lock().unwrap().recv();
            let _ = sender.send(());
        });
    let (_view, mut scripted, connection) = connect_ready(bridge, json!({})).await;
    for _ in 0..1000 {
        scripted
            .notify("ui/notifications/size-changed", json!({"height": 1}))
            .await;
    }
    assert_eq!(
        scripted.request("ping", json!({})).await["result"],
        json!({})
    );
    drop((release, scripted));
    connection.await.unwrap().unwrap();
    let mut count = 0;
    while handled.recv().await.is_some() {
        count += 1;
    }
    assert!(count <= 5, "{count}");
}

#[tokio::test(start_paused = true)]
async fn handler_that_hangs_is_ended_by_its_time_limit() {
    let bridge = bridge()
        .limits(|limits| limits.handler_timeout = Duration::from_secs(5))
        .on_open_link(async |_| std::future::pending().await);
    let (_view, mut scripted, _connection) = connect_ready(bridge, json!({})).await;
    let refused = scripted
        .request("ui/open-link", json!({"url": "https://a.example"}))
        .await;
    assert_eq!(refused["error"]["message"], "the host took too long");
}

//! The order of the messages of a conversation.

use std::time::Duration;

use mcp::CallToolResult;
use mcp::apps::{ContainerSize, HostBridge, HostContext, Theme, ViewError};
use serde_json::json;

use crate::kit::{connect, connect_ready};

fn bridge() -> HostBridge {
    HostBridge::new("host", "1.0.0")
}

#[tokio::test]
async fn initialize_returns_capabilities_of_the_handlers_and_the_context() {
    let context = HostContext::new()
        .theme(Theme::Dark)
        .container(ContainerSize::new().width(400.0));
    let bridge = bridge()
        .context(context)
        .on_open_link(async |_| Ok(()))
        .with_model_context();
    let (_view, mut scripted, _connection) = connect(bridge);
    let result = scripted.initialize(json!({})).await;
    assert_eq!(result["protocolVersion"], "2026-01-26");
    assert_eq!(result["hostInfo"]["name"], "host");
    let capabilities = result["hostCapabilities"].as_object().unwrap();
    let names: Vec<_> = capabilities.keys().collect();
    assert_eq!(names, ["openLinks", "updateModelContext"]);
    assert_eq!(
        result["hostContext"],
        json!({
            "theme": "dark", "containerDimensions": {"width": 400.0},
            "displayMode": "inline", "availableDisplayModes": ["inline"],
        })
    );
}

#[tokio::test(start_paused = true)]
async fn nothing_is_sent_before_the_view_is_initialized() {
    let (view, mut scripted, _connection) = connect(bridge());
    let arguments = json!({"a": 1});
    let mut input = Box::pin(view.send_input(&arguments));
    assert!(futures::poll!(&mut input).is_pending());
    let response = scripted
        .request("ui/initialize", json!({"appCapabilities": {}}))
        .await;
    assert!(response["result"].is_object());
    assert!(futures::poll!(&mut input).is_pending());
    scripted
        .notify("ui/notifications/initialized", json!({}))
        .await;
    input.await.unwrap();
    let message = scripted.receive().await;
    assert_eq!(message["method"], "ui/notifications/tool-input");
    assert_eq!(message["params"], json!({"arguments": {"a": 1}}));
}

#[tokio::test(start_paused = true)]
async fn view_that_does_not_initialize_times_out() {
    let (view, _scripted, _connection) = connect(bridge());
    let error = view.send_input(&json!({})).await.unwrap_err();
    assert!(matches!(error, ViewError::TimedOut { after, .. } if after == Duration::from_secs(30)));
}

#[tokio::test]
async fn input_is_sent_once_and_before_the_result() {
    let (view, mut scripted, _connection) = connect_ready(bridge(), json!({})).await;
    let result = CallToolResult::from_text("done");
    let error = view.send_result(&result).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "`ui/notifications/tool-result` cannot be sent: send the input first"
    );
    view.send_partial_input(&json!({"a": "b"})).await.unwrap();
    view.send_input(&json!({"a": "bc"})).await.unwrap();
    assert!(view.send_partial_input(&json!({})).await.is_err());
    assert!(view.send_input(&json!({})).await.is_err());
    view.send_result(&result).await.unwrap();
    assert!(view.send_cancelled("late").await.is_err());
    let methods = ["tool-input-partial", "tool-input", "tool-result"];
    for method in methods {
        let message = scripted.receive().await;
        assert_eq!(message["method"], format!("ui/notifications/{method}"));
    }
}

#[tokio::test]
async fn cancellation_and_context_reach_the_view() {
    let (view, mut scripted, _connection) = connect_ready(bridge(), json!({})).await;
    view.send_cancelled("stopped by the user").await.unwrap();
    let message = scripted.receive().await;
    assert_eq!(message["params"], json!({"reason": "stopped by the user"}));
    view.send_context(&HostContext::new().locale("it"))
        .await
        .unwrap();
    let message = scripted.receive().await;
    assert_eq!(message["method"], "ui/notifications/host-context-changed");
    assert_eq!(message["params"], json!({"locale": "it"}));
}

#[tokio::test(start_paused = true)]
async fn teardown_waits_for_the_answer_of_the_view() {
    let (view, mut scripted, _connection) = connect_ready(bridge(), json!({})).await;
    let handle = view.clone();
    let teardown = tokio::spawn(async move { handle.teardown("closed").await });
    let request = scripted.receive().await;
    assert_eq!(request["method"], "ui/resource-teardown");
    scripted
        .send(json!({"jsonrpc": "2.0", "id": request["id"], "result": {}}))
        .await;
    teardown.await.unwrap().unwrap();

    let error = view.teardown("again").await.unwrap_err();
    assert!(matches!(error, ViewError::TimedOut { .. }), "{error}");
}

#[tokio::test]
async fn end_of_the_connection_ends_all_waits() {
    let (view, scripted, connection) = connect_ready(bridge(), json!({})).await;
    let handle = view.clone();
    let teardown = tokio::spawn(async move { handle.teardown("closed").await });
    drop(scripted);
    connection.await.unwrap().unwrap();
    assert_eq!(teardown.await.unwrap(), Err(ViewError::Closed));
    assert_eq!(view.send_input(&json!({})).await, Err(ViewError::Closed));
}

#[tokio::test]
async fn tools_of_the_view_are_listed_and_called() {
    let (view, mut scripted, _connection) = connect_ready(bridge(), json!({"tools": {}})).await;
    let handle = view.clone();
    let host = tokio::spawn(async move {
        let tools = handle.list_tools().await.unwrap();
        let params = mcp::types::CallToolParams::new(&*tools[0].name, None);
        handle.call_tool(&params).await.unwrap().text()
    });
    let request = scripted.receive().await;
    let tool = json!({"name": "zoom", "inputSchema": {"type": "object"}});
    scripted
        .send(json!({"jsonrpc": "2.0", "id": request["id"], "result": {"tools": [tool]}}))
        .await;
    let request = scripted.receive().await;
    assert_eq!(request["params"]["name"], "zoom");
    let content = json!([{"type": "text", "text": "zoomed"}]);
    scripted
        .send(json!({"jsonrpc": "2.0", "id": request["id"], "result": {"content": content}}))
        .await;
    assert_eq!(host.await.unwrap(), "zoomed");

    let (view, _scripted, _connection) = connect_ready(bridge(), json!({})).await;
    assert!(matches!(
        view.list_tools().await,
        Err(ViewError::Order { .. })
    ));
}

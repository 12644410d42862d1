//! The message order of a conversation.

use std::time::Duration;

use mcp::apps::{
    AppDocument, ContainerSize, Csp, HostBridge, HostContext, MIME_TYPE, Permissions, Platform,
    ResourceUi, Theme, ViewError,
};
use mcp::prelude::*;
use mcp::types::meta::keys;
use mcp::types::{Meta, ReadResourceResult};
use serde_json::json;

use crate::kit::{client, connect, connect_ready};

fn bridge() -> HostBridge {
    HostBridge::new("host", "1.0.0")
}

// spec: APP-13
#[tokio::test]
async fn initialize_returns_handler_capabilities_and_the_context() {
    let context = HostContext::new()
        .theme(Theme::Dark)
        .container(ContainerSize {
            width: Some(400.0),
            ..ContainerSize::default()
        });
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

// spec: APP-15
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

// spec: APP-16, APP-17
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

// spec: APP-17
#[tokio::test]
async fn cancellation_and_context_reach_the_view() {
    // spec: APP-22
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

// spec: APP-18
#[tokio::test(start_paused = true)]
async fn teardown_waits_until_the_view_answers() {
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
    let request = scripted.receive().await;
    let cancelled = scripted.receive().await;
    assert_eq!(cancelled["method"], "notifications/cancelled");
    assert_eq!(cancelled["params"]["requestId"], request["id"]);
}

#[tokio::test]
async fn dropped_requests_are_cancelled_and_do_not_count() {
    let (view, mut scripted, _connection) = connect_ready(bridge(), json!({})).await;
    for _ in 0..100 {
        let handle = view.clone();
        let teardown = tokio::spawn(async move { handle.teardown("closed").await });
        let request = scripted.receive().await;
        assert_eq!(request["method"], "ui/resource-teardown");
        teardown.abort();
        let cancelled = scripted.receive().await;
        assert_eq!(cancelled["method"], "notifications/cancelled");
        assert_eq!(cancelled["params"]["requestId"], request["id"]);
        // An answer that comes too late is valid.
        scripted
            .send(json!({"jsonrpc": "2.0", "id": request["id"], "result": {}}))
            .await;
    }
    let mut unanswered = tokio::task::JoinSet::new();
    for _ in 0..100 {
        let handle = view.clone();
        unanswered.spawn(async move { handle.teardown("closed").await });
        scripted.receive().await;
        unanswered.abort_all();
        scripted.receive().await;
    }
}

#[tokio::test]
async fn all_waits_end_when_the_connection_ends() {
    let (view, scripted, connection) = connect_ready(bridge(), json!({})).await;
    let handle = view.clone();
    let teardown = tokio::spawn(async move { handle.teardown("closed").await });
    drop(scripted);
    connection.await.unwrap().unwrap();
    assert_eq!(teardown.await.unwrap(), Err(ViewError::Closed));
    assert_eq!(view.send_input(&json!({})).await, Err(ViewError::Closed));
}

#[tokio::test]
async fn view_tools_are_listed_and_called() {
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

/// A document that asks for a domain and two permissions.
fn document() -> AppDocument {
    let mut ui = ResourceUi::default();
    ui.csp = Some(Csp::new().connect("https://a.example"));
    ui.permissions = Some(Permissions::new().camera().geolocation());
    let meta =
        serde_json::to_value(Meta::default().with(keys::UI, serde_json::to_value(&ui).unwrap()))
            .unwrap();
    let html = ResourceContents::text("ui://a", "<!doctype html>").mime_type(MIME_TYPE);
    let read = ReadResourceResult::from(vec![html.meta("ui", meta["ui"].clone())]);
    AppDocument::new("ui://a", &read, None).unwrap()
}

// spec: APP-12
#[tokio::test]
async fn sandbox_proxy_receives_the_document_before_the_view_speaks() {
    let granted = document().grant(&Permissions::new().geolocation().microphone());
    assert_eq!(granted.allow_attribute(), "geolocation");
    let (_view, mut scripted, _connection) = connect(bridge().document(granted));
    let ready = "ui/notifications/sandbox-proxy-ready";
    scripted.notify(ready, json!({})).await;
    let message = scripted.receive().await;
    assert_eq!(message["method"], "ui/notifications/sandbox-resource-ready");
    let sandbox = json!({
        "csp": {"connectDomains": ["https://a.example"]}, "permissions": {"geolocation": {}},
    });
    let mut params = sandbox.clone();
    params["html"] = json!("<!doctype html>");
    assert_eq!(message["params"], params);
    let result = scripted.initialize(json!({})).await;
    assert_eq!(result["hostCapabilities"]["sandbox"], sandbox);
    // The document is sent once, and not to a view.
    scripted.notify(ready, json!({})).await;
    assert_eq!(
        scripted.request("ping", json!({})).await["result"],
        json!({})
    );
}

// spec: APP-13
#[tokio::test]
async fn host_declares_list_changes_and_experiments_in_any_order() {
    let settings = json!({"depth": 3}).as_object().cloned().unwrap();
    for bridge in [
        bridge().with_list_changes().serve(client().await),
        bridge().serve(client().await).with_list_changes(),
    ] {
        let bridge = bridge.experimental("com.example/zoom", settings.clone());
        let (view, mut scripted, _connection) = connect(bridge);
        assert_eq!(view.info(), None);
        let capabilities = scripted.initialize(json!({})).await["hostCapabilities"].clone();
        assert_eq!(
            capabilities,
            json!({
                "serverTools": {"listChanged": true}, "serverResources": {"listChanged": true},
                "experimental": {"com.example/zoom": {"depth": 3}},
            })
        );
        view.send_tools_changed().await.unwrap();
        view.send_resources_changed().await.unwrap();
        for list in ["tools", "resources"] {
            let method = format!("notifications/{list}/list_changed");
            assert_eq!(scripted.receive().await["method"], method);
        }
        assert_eq!(view.info().unwrap().name, "view");
    }
}

// spec: APP-14
#[test]
fn context_has_the_members_that_are_specified() {
    let tool = Tool::new("chart");
    let context = HostContext::new()
        .styles([("--font-sans", "Inter")])
        .fonts("@import url('https://fonts.example');")
        .time_zone("Europe/Rome")
        .user_agent("host/1.0")
        .platform(Platform::Mobile)
        .device(true, false)
        .safe_area([1.0, 2.0, 3.0, 4.0])
        .container(ContainerSize {
            max_width: Some(300.0),
            max_height: Some(200.0),
            ..ContainerSize::default()
        })
        .tool_call(&5.into(), &tool);
    assert_eq!(
        serde_json::to_value(context).unwrap(),
        json!({
            "styles": {
                "variables": {"--font-sans": "Inter"},
                "css": {"fonts": "@import url('https://fonts.example');"},
            },
            "timeZone": "Europe/Rome", "userAgent": "host/1.0", "platform": "mobile",
            "deviceCapabilities": {"touch": true, "hover": false},
            "safeAreaInsets": {"top": 1.0, "right": 2.0, "bottom": 3.0, "left": 4.0},
            "containerDimensions": {"maxWidth": 300.0, "maxHeight": 200.0},
            "toolInfo": {"id": 5, "tool": tool},
        })
    );
}

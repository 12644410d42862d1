//! Requests that views and hosts send.

use std::sync::{Arc, Mutex};

use mcp::apps::{DisplayMode, HostBridge, Refusal, ViewMessage};
use mcp::{CreateMessageResult, prelude::*};
use serde_json::json;
use tokio::sync::mpsc;

use crate::kit::{client, connect_ready};

fn bridge() -> HostBridge {
    HostBridge::new("host", "1.0.0")
}

#[tokio::test]
async fn view_lists_calls_and_reads_its_server() {
    let bridge = bridge().serve(client().await);
    let (_view, mut scripted, _connection) = connect_ready(bridge, json!({})).await;
    let listed = scripted.request("tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<_> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["shared", "refresh"]);
    let called = scripted
        .request("tools/call", json!({"name": "refresh"}))
        .await;
    assert_eq!(called["result"]["content"][0]["text"], "for views");
    let listed = scripted.request("resources/list", json!({})).await;
    let resources = listed["result"]["resources"].as_array().unwrap();
    assert_eq!(resources.len(), 1);
    assert_eq!(resources[0]["uri"], "data://1");
    let listed = scripted
        .request("resources/templates/list", json!({}))
        .await;
    let template = &listed["result"]["resourceTemplates"][0];
    assert_eq!(template["uriTemplate"], "days://{day}");
    let read = scripted
        .request("resources/read", json!({"uri": "data://1"}))
        .await;
    assert_eq!(read["result"]["contents"][0]["text"], "some data");
}

#[tokio::test]
async fn links_reach_the_host_if_their_scheme_is_safe() {
    let bridge = bridge().on_open_link(async |url| match url.host_str() {
        Some("ok.example") => Ok(()),
        _ => Err(Refusal::new("the user said no")),
    });
    let (_view, mut scripted, _connection) = connect_ready(bridge, json!({})).await;
    let opened = scripted
        .request("ui/open-link", json!({"url": "https://ok.example/"}))
        .await;
    assert_eq!(opened["result"], json!({}));
    let refused = scripted
        .request("ui/open-link", json!({"url": "https://no.example/"}))
        .await;
    assert_eq!(
        refused["error"],
        json!({"code": -32000, "message": "the user said no"})
    );
    for url in [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "data:text/html,x",
        "x",
    ] {
        let refused = scripted.request("ui/open-link", json!({"url": url})).await;
        assert_eq!(refused["error"]["code"], -32000, "{url}");
    }
}

#[tokio::test]
async fn messages_and_downloads_reach_the_host() {
    let (sender, mut received) = mpsc::unbounded_channel();
    let files = sender.clone();
    let bridge = bridge()
        .on_message(move |message: ViewMessage| {
            let _ = sender.send(message.content[0].as_text().unwrap().to_owned());
            async { Ok(()) }
        })
        .on_download(move |download| {
            let names: Vec<_> = download.files().map(|(name, _)| name).collect();
            let _ = files.send(names.join(", "));
            async { Ok(()) }
        });
    let (_view, mut scripted, _connection) = connect_ready(bridge, json!({})).await;
    let content = json!([{"type": "text", "text": "hello"}]);
    let sent = scripted
        .request("ui/message", json!({"role": "user", "content": content}))
        .await;
    assert_eq!(sent["result"], json!({}));
    assert_eq!(received.recv().await.unwrap(), "hello");
    let forged = json!({"role": "assistant", "content": content});
    let refused = scripted.request("ui/message", forged).await;
    assert_eq!(refused["error"]["code"], -32000);
    let file = |uri: &str| json!({"type": "resource", "resource": {"uri": uri, "text": "x"}});
    let link = json!({"type": "resource_link", "uri": "data://x/b.csv?v=1", "name": "b"});
    let files = [
        file("file:///a.txt"),
        file("file:///../.ssh/..%2f.bashrc"),
        file("file:///a/..\\C:evil.exe"),
        file("file:///.."),
        link,
    ];
    let saved = scripted
        .request("ui/download-file", json!({"contents": files}))
        .await;
    assert_eq!(saved["result"], json!({}));
    assert_eq!(
        received.recv().await.unwrap(),
        "a.txt, 2f.bashrc, Cevil.exe, download, b.csv"
    );
    let text = json!({"contents": [{"type": "text", "text": "x"}]});
    let refused = scripted.request("ui/download-file", text).await;
    assert_eq!(refused["error"]["code"], -32000);
}

#[tokio::test]
async fn model_context_is_replaced_and_taken_once() {
    let (view, mut scripted, _connection) =
        connect_ready(bridge().with_model_context(), json!({})).await;
    for number in [1, 2] {
        let params = json!({"structuredContent": {"number": number}});
        scripted.request("ui/update-model-context", params).await;
    }
    let context = view.take_model_context().unwrap();
    assert_eq!(context.structured_content.unwrap()["number"], 2);
    assert_eq!(view.take_model_context(), None);
}

// spec: APP-21
#[tokio::test]
async fn display_mode_is_one_that_both_sides_have() {
    let set = Arc::new(Mutex::new(Vec::new()));
    let seen = set.clone();
    let modes = [DisplayMode::Fullscreen, DisplayMode::Pip];
    let bridge = bridge().on_display_mode(&modes, move |mode| {
        seen.lock().unwrap().push(mode);
        async move { mode }
    });
    let declared = json!({"availableDisplayModes": ["inline", "fullscreen", "hologram"]});
    let (view, mut scripted, _connection) = connect_ready(bridge, declared).await;
    let mode = scripted
        .request("ui/request-display-mode", json!({"mode": "pip"}))
        .await;
    assert_eq!(mode["result"], json!({"mode": "inline"}));
    let mode = scripted
        .request("ui/request-display-mode", json!({"mode": "fullscreen"}))
        .await;
    assert_eq!(mode["result"], json!({"mode": "fullscreen"}));
    assert_eq!(view.display_mode(), DisplayMode::Fullscreen);
    assert_eq!(*set.lock().unwrap(), [DisplayMode::Fullscreen]);
    assert!(view.send_display_mode(DisplayMode::Pip).await.is_err());
    view.send_display_mode(DisplayMode::Inline).await.unwrap();
    assert_eq!(
        scripted.receive().await["params"],
        json!({"displayMode": "inline"})
    );
}

#[tokio::test]
async fn sampling_without_declared_tools_refuses_tools() {
    let bridge = bridge().on_sample(false, async |_| {
        Ok(CreateMessageResult::new("model", ContentBlock::text("4")))
    });
    let (_view, mut scripted, _connection) = connect_ready(bridge, json!({})).await;
    let message = json!({"role": "user", "content": {"type": "text", "text": "2 + 2"}});
    let params = json!({"messages": [message], "maxTokens": 5});
    let sampled = scripted
        .request("sampling/createMessage", params.clone())
        .await;
    assert_eq!(sampled["result"]["model"], "model", "{sampled}");
    let mut with_tools = params;
    with_tools["tools"] = json!([{"name": "x", "inputSchema": {"type": "object"}}]);
    let refused = scripted.request("sampling/createMessage", with_tools).await;
    assert_eq!(refused["error"]["code"], -32000);
}

// spec: APP-22
#[tokio::test]
async fn notifications_reach_their_handlers_in_order() {
    let (sender, mut received) = mpsc::unbounded_channel();
    let (log, teardown, tools) = (sender.clone(), sender.clone(), sender.clone());
    let bridge = bridge()
        .on_size(move |size| drop(sender.send(format!("{:?}", size.height))))
        .on_log(move |message| drop(log.send(message.data.to_string())))
        .on_tools_changed(move || drop(tools.send("tools".to_owned())))
        .on_teardown_request(move || drop(teardown.send("teardown".to_owned())));
    let (_view, mut scripted, _connection) = connect_ready(bridge, json!({})).await;
    scripted
        .notify("ui/notifications/size-changed", json!({"height": 20}))
        .await;
    scripted
        .notify(
            "notifications/message",
            json!({"level": "info", "data": "log"}),
        )
        .await;
    scripted
        .notify("notifications/tools/list_changed", json!({}))
        .await;
    scripted
        .notify("ui/notifications/request-teardown", json!({}))
        .await;
    for expected in ["Some(20.0)", "\"log\"", "tools", "teardown"] {
        assert_eq!(received.recv().await.unwrap(), expected);
    }
}

#[tokio::test]
async fn cancelled_request_ends_without_an_answer() {
    struct NotifyOnDrop(mpsc::UnboundedSender<()>);
    impl Drop for NotifyOnDrop {
        fn drop(&mut self) {
            let _ = self.0.send(());
        }
    }
    let (sender, mut dropped) = mpsc::unbounded_channel();
    let bridge = bridge().on_open_link(move |_| {
        let guard = NotifyOnDrop(sender.clone());
        async move {
            let _guard = guard;
            std::future::pending().await
        }
    });
    let (_view, mut scripted, _connection) = connect_ready(bridge, json!({})).await;
    let params = json!({"url": "https://a.example"});
    let link = json!({"jsonrpc": "2.0", "id": 7, "method": "ui/open-link", "params": params});
    scripted.send(link.clone()).await;
    // A second request with the id of a running one is refused, and the running one goes on.
    scripted.send(link).await;
    assert_eq!(scripted.receive().await["error"]["code"], -32600);
    scripted
        .notify("notifications/cancelled", json!({"requestId": 7}))
        .await;
    dropped.recv().await.unwrap();
    scripted
        .notify("notifications/cancelled", json!({"requestId": 8}))
        .await;
    assert_eq!(
        scripted.request("ping", json!({})).await["result"],
        json!({})
    );
}

#[tokio::test]
async fn panic_in_a_handler_is_an_internal_error() {
    let bridge = bridge().on_open_link(|url| {
        assert_eq!(url.host_str(), Some("ok.example"), "the text of the panic");
        async { Ok(()) }
    });
    let (_view, mut scripted, _connection) = connect_ready(bridge, json!({})).await;
    for (url, code) in [("https://a.example", -32603), ("https://ok.example", 0)] {
        let answer = scripted.request("ui/open-link", json!({"url": url})).await;
        assert_eq!(answer["error"]["code"].as_i64().unwrap_or(0), code, "{url}");
        assert!(!answer.to_string().contains("the text of the panic"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn request_id_can_be_used_again_after_its_answer() {
    let bridge = bridge().on_open_link(async |_| Ok(()));
    let (_view, mut scripted, _connection) = connect_ready(bridge, json!({})).await;
    for _ in 0..500 {
        let params = json!({"url": "https://a.example"});
        let opened = scripted.request("ui/open-link", params).await;
        assert_eq!(opened["result"], json!({}), "{opened}");
    }
}

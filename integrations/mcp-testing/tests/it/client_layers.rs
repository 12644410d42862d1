//! Client layers: around calls, and around server messages.

use std::sync::Arc;
use std::time::Duration;

use mcp::core::tower::{Middleware, Next, from_fn};
use mcp::core::{Call, Exchange, Fault, Reply, ResultBody, ServerNotification};
use mcp::prelude::*;
use mcp::types::{CallToolParams, RawObject};
use mcp_testing::Pair;
use parking_lot::Mutex;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::extensions::{Echo, Note, Repeat, Sides, next, sides};

type Log = Arc<Mutex<Vec<String>>>;

/// A layer that records the method before and after each call.
fn recorder(name: &'static str, log: &Log) -> impl Middleware + use<> {
    let log = log.clone();
    from_fn(move |exchange: Exchange, next: Next| {
        let log = log.clone();
        async move {
            let method = exchange.call.method_name().to_owned();
            log.lock().push(format!("{name} {method}"));
            let reply = next.run(exchange).await;
            log.lock().push(format!("{name} after"));
            reply
        }
    })
}

fn server() -> Server {
    let echo = |RawArgs(args): RawArgs, meta: Option<RequestMeta>| {
        let tenant: Option<String> = meta.and_then(|meta| meta.get("com.example/tenant"));
        let own: Option<u8> = None;
        format!("{} {tenant:?} {own:?}", args.as_str())
    };
    Server::new("plain", "1.0.0").tool(Tool::new("echo").handler(echo))
}

#[tokio::test]
async fn client_layers_see_calls_in_application_order() {
    let log = Log::default();
    let builder = Client::builder()
        .layer(recorder("inner", &log))
        .layer(recorder("outer", &log));
    let client = mcp_testing::connect_with(server(), builder).await.unwrap();
    client.call("echo", json!({})).await.unwrap();
    let expected = [
        "outer tools/call",
        "inner tools/call",
        "inner after",
        "outer after",
    ];
    assert_eq!(*log.lock(), expected);
}

#[tokio::test]
async fn client_layer_changes_arguments_meta_and_results() {
    async fn change(mut exchange: Exchange, next: Next) -> Reply {
        if let Call::CallTool(params) = &mut exchange.call {
            let arguments = RawObject::from_value(&json!({"changed": true})).ok();
            *params = CallToolParams::new(&*params.name, arguments);
        }
        exchange.update_meta(|meta| meta.with("com.example/tenant", "acme"));
        let kept = exchange.meta.object().map(|meta| meta.as_str().to_owned());
        assert!(kept.is_some_and(|meta| meta.contains("com.example/kept")));
        let mut reply = next.run(exchange).await;
        if let Reply::Complete {
            body: ResultBody::CallTool(result),
            ..
        } = &mut reply
        {
            result.content.push("added".into());
        }
        reply
    }

    for version in [ProtocolVersion::LATEST, ProtocolVersion::V2025_11_25] {
        let builder = Client::builder().layer(from_fn(change));
        let pair = Pair::http(server()).client(builder).revision(version);
        let pair = pair.connect().await.unwrap();
        let call = pair.client.call("echo", json!({"a": 1}));
        let result = call.meta("com.example/kept", 1).await.unwrap();
        let text = result.text();
        assert!(
            text.starts_with(r#"{"changed":true} Some("acme")"#),
            "{text}"
        );
        assert!(text.ends_with("added"), "{text}");
    }
}

#[tokio::test]
async fn client_layer_replies_without_a_request() {
    async fn refuse(exchange: Exchange, next: Next) -> Result<Reply, Fault> {
        match exchange.call.item() {
            Some("secret") => Err(Fault::Refused("not this one".into())),
            _ => Ok(next.run(exchange).await),
        }
    }

    let builder = Client::builder().layer(from_fn(refuse));
    let pair = Pair::http(server())
        .client(builder)
        .connect()
        .await
        .unwrap();
    let error = pair.client.call("secret", ()).await.unwrap_err();
    assert!(error.to_string().contains("not this one"), "{error}");
    assert!(!pair.transcript().to_string().contains("secret"));
}

#[tokio::test]
async fn connection_error_passes_layers_unchanged() {
    let log = Log::default();
    let builder = Client::builder().layer(recorder("a", &log));
    let pair = Pair::stdio(server())
        .client(builder)
        .connect()
        .await
        .unwrap();
    let client = pair.client.clone();
    pair.close().await.unwrap();
    let error = client.call("echo", ()).await.unwrap_err();
    assert!(error.is_closed(), "{error}");
    assert_eq!(log.lock().last().map(String::as_str), Some("a after"));
}

#[tokio::test]
async fn client_layer_maps_each_streamed_notification_in_order() {
    let count = |progress: Progress| async move {
        for done in 1..=4 {
            progress.report(f64::from(done), 4.0, "counting").await;
        }
        "counted"
    };
    let server = Server::new("plain", "1.0.0").tool(Tool::new("count").handler(count));
    async fn drop_second(mut exchange: Exchange, next: Next) -> Reply {
        exchange.notifications = exchange
            .notifications
            .map(|notification| match notification {
                ServerNotification::Progress { progress, .. } if progress.progress == 2.0 => None,
                ServerNotification::Progress {
                    token,
                    mut progress,
                } => {
                    progress.message = Some("changed".to_owned());
                    Some(ServerNotification::Progress { token, progress })
                }
                other => Some(other),
            });
        next.run(exchange).await
    }

    let builder = Client::builder().layer(from_fn(drop_second));
    let pair = Pair::http(server).client(builder).connect().await.unwrap();
    let mut seen = Vec::new();
    let call = pair.client.call("count", ()).on_progress(|progress| {
        seen.push((progress.progress, progress.message));
    });
    call.await.unwrap();
    let changed = || Some("changed".to_owned());
    assert_eq!(seen, [(1.0, changed()), (3.0, changed()), (4.0, changed())]);
}

#[tokio::test]
async fn cancelled_call_drops_the_layer_and_the_request() {
    struct OnDrop(mpsc::UnboundedSender<serde_json::Value>);

    impl Drop for OnDrop {
        fn drop(&mut self) {
            let _ = self.0.send(json!("dropped"));
        }
    }

    let (sender, mut dropped) = mpsc::unbounded_channel();
    let guard = move |exchange: Exchange, next: Next| {
        let guard = OnDrop(sender.clone());
        async move {
            let reply = next.run(exchange).await;
            drop(guard);
            reply
        }
    };
    let Sides { server, client, .. } = sides();
    let client = client.layer(from_fn(guard));
    let pair = Pair::stdio(server).client(client).connect().await.unwrap();
    let call = pair.client.call("wait", ()).into_future();
    let cancelled = timeout(Duration::from_millis(50), call).await;
    assert!(cancelled.is_err());
    assert_eq!(next(&mut dropped).await, "dropped");
    pair.client.extension::<Echo>().unwrap();
    let log = pair.transcript().to_string();
    let echo = pair.client.extension::<Echo>().unwrap();
    echo.request::<Repeat>(&json!({})).await.unwrap();
    let log = format!("{log}{}", pair.transcript());
    assert!(log.contains("notifications/cancelled"), "{log}");
}

#[tokio::test]
async fn call_timeout_ends_a_layer_that_hangs() {
    tokio::time::pause();
    let hang = |exchange: Exchange, next: Next| async move {
        let reply = next.run(exchange).await;
        std::future::pending::<()>().await;
        reply
    };
    let builder = Client::builder().layer(from_fn(hang));
    let client = mcp_testing::connect_with(server(), builder).await.unwrap();
    let error = client.call("echo", ()).await.unwrap_err();
    assert!(error.is_timeout(), "{error}");
}

#[tokio::test]
async fn client_layer_suppresses_a_notification() {
    async fn suppress(exchange: Exchange, next: Next) -> Reply {
        match &exchange.call {
            Call::Notification { params, .. }
                if params
                    .as_ref()
                    .is_some_and(|meta| meta.as_str().contains("private")) =>
            {
                ResultBody::Empty.into()
            }
            _ => next.run(exchange).await,
        }
    }

    let Sides {
        server,
        client,
        mut at_server,
        ..
    } = sides();
    let client = client.layer(from_fn(suppress));
    let client = mcp_testing::connect_with(server, client).await.unwrap();
    let echo = client.extension::<Echo>().unwrap();
    echo.notify::<Note>(&json!({"private": 1})).await.unwrap();
    echo.notify::<Note>(&json!({"public": 2})).await.unwrap();
    assert_eq!(next(&mut at_server).await["note"], json!({"public": 2}));
}

#[tokio::test]
async fn inbound_layer_sees_requests_from_server_in_both_eras() {
    async fn answer(exchange: Exchange, next: Next) -> Reply {
        assert_eq!(exchange.call.method_name(), "roots/list");
        let mut reply = next.run(exchange).await;
        if let Reply::Complete {
            body: ResultBody::Other(result),
            ..
        } = &mut reply
        {
            assert!(result.as_str().contains("file:///a"), "{result:?}");
            *result = RawObject::from_text(r#"{"roots":[{"uri":"file:///b"}]}"#).unwrap();
        }
        reply
    }

    let roots = |ask: Ask| async move {
        let roots = ask.roots("roots").await?;
        Ok::<_, ToolError>(roots[0].uri.clone())
    };
    for version in [ProtocolVersion::LATEST, ProtocolVersion::V2025_11_25] {
        let server = Server::new("roots", "1.0.0").tool(Tool::new("roots").handler(roots));
        let builder = Client::builder()
            .roots(["file:///a"])
            .inbound_layer(from_fn(answer));
        let pair = Pair::http(server).client(builder).revision(version);
        let pair = pair.connect().await.unwrap();
        let result = pair.client.call("roots", ()).await.unwrap();
        assert_eq!(result.text(), "file:///b", "{version}");
    }
}

#[tokio::test]
async fn inbound_layer_refuses_a_request_from_the_server() {
    let refuse = |_: Exchange, _: Next| async { Fault::Refused("no roots for you".into()) };
    let roots = |ask: Ask| async move {
        let roots = ask.roots("roots").await?;
        Ok::<_, ToolError>(roots.len().to_string())
    };
    let server = Server::new("roots", "1.0.0").tool(Tool::new("roots").handler(roots));
    let builder = Client::builder()
        .roots(["file:///a"])
        .inbound_layer(from_fn(refuse));
    let client = mcp_testing::connect_with(server, builder).await.unwrap();
    let error = client.call("roots", ()).await.unwrap_err().to_string();
    assert!(error.contains("no roots for you"), "{error}");
}

#[tokio::test]
async fn inbound_layer_suppresses_notifications_one_by_one() {
    let seen = Log::default();
    let log = seen.clone();
    let suppress = move |exchange: Exchange, next: Next| {
        let log = log.clone();
        async move {
            let method = exchange.call.method_name().to_owned();
            let is_first = {
                let mut log = log.lock();
                log.push(method);
                log.len() == 1
            };
            if is_first {
                ResultBody::Empty.into()
            } else {
                next.run(exchange).await
            }
        }
    };
    for start in [Pair::http, Pair::stdio, Pair::messages] {
        let Sides {
            server,
            client,
            mut at_client,
            ..
        } = sides();
        let client = client.inbound_layer(from_fn(suppress.clone()));
        let pair = start(server).client(client).connect().await.unwrap();
        let echo = pair.client.extension::<Echo>().unwrap();
        for _ in 0..2 {
            echo.request::<Repeat>(&json!({})).await.unwrap();
        }
        assert_eq!(next(&mut at_client).await, json!({"before": "result"}));
        assert!(at_client.try_recv().is_err());
        let method = "notifications/echo/note";
        assert_eq!(*seen.lock(), [method, method]);
        seen.lock().clear();
    }
}

#[tokio::test]
async fn inbound_layer_passes_session_changes_on() {
    let log = Log::default();
    let server = Server::new("plain", "1.0.0");
    let tools = server.tools();
    let builder = Client::builder().inbound_layer(recorder("in", &log));
    let pair = Pair::stdio(server)
        .client(builder)
        .revision(ProtocolVersion::V2025_11_25);
    let pair = pair.connect().await.unwrap();
    assert!(pair.client.list_tools().await.unwrap().is_empty());
    tools.add(Tool::new("new").handler(|| "new")).unwrap();
    let method = "in notifications/tools/list_changed".to_owned();
    let arrived = async {
        while !log.lock().contains(&method) {
            tokio::task::yield_now().await;
        }
    };
    timeout(Duration::from_secs(10), arrived).await.unwrap();
}

/// A client extension with a layer around calls and one around server messages.
struct Recorded(Log);

impl mcp::extension::Extension for Recorded {
    const ID: &'static str = "com.example/recorded";
    type ServerSettings = ();
    type ClientSettings = ();
}

impl mcp::extension::ClientExtension for Recorded {
    fn settings(&self) {}

    fn register(self, setup: &mut mcp::extension::ClientSetup<Self>) {
        setup.layer(recorder("extension", &self.0));
        setup.inbound_layer(recorder("inbound extension", &self.0));
    }
}

#[tokio::test]
async fn application_puts_extension_layers_among_client_layers() {
    let log = Log::default();
    let builder = Client::builder().on_elicit(|_: ElicitRequest| async { ElicitResult::decline() });
    // A copied builder has its own layers.
    let other = builder.clone().extension(Recorded(Log::default()));
    let builder = builder
        .extension(Recorded(log.clone()))
        .layer(recorder("outer", &log))
        .inbound_layer(recorder("inbound outer", &log));
    let ask = async |ask: Ask| -> Result<String, ToolError> {
        let answer = ask
            .raw_form("sure", "Sure?", mcp::types::FormSchema::new())
            .await?;
        Ok(format!("{}", answer.is_accepted()))
    };
    let server = Server::new("asking", "1.0.0").tool(Tool::new("ask").handler(ask));
    let pair = Pair::stdio(server).revision(ProtocolVersion::V2025_11_25);
    let pair = pair.client(builder).connect().await.unwrap();
    pair.client.call("ask", ()).await.unwrap();
    pair.close().await.unwrap();
    drop(other);
    let expected = [
        "outer tools/call",
        "extension tools/call",
        "inbound outer elicitation/create",
        "inbound extension elicitation/create",
        "inbound extension after",
        "inbound outer after",
        "extension after",
        "outer after",
    ];
    let log = log.lock();
    let log: Vec<_> = log
        .iter()
        .filter(|line| !line.contains("notifications/"))
        .collect();
    assert_eq!(log, expected);
}

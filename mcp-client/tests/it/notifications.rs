//! Notification readers, call ids, and metadata of all requests.

use std::future::{IntoFuture, pending, ready};

use futures::StreamExt;
use mcp_client::{Client, ConnectMode, LostNotifications, Over};
use mcp_core::tower::{Next, from_fn};
use mcp_core::{Exchange, Frame, Reply, ResultBody, ServerNotification};
use mcp_types::{ProtocolVersion, RequestId};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::yield_now;

use crate::script::{Script, Step, log, progress, result, say, text};
use crate::session::session;

fn custom() -> Step {
    say(r#"{"jsonrpc":"2.0","method":"notifications/clock/tick","params":{"number":1}}"#)
}

fn kinds(received: &[Result<ServerNotification, LostNotifications>]) -> Vec<&'static str> {
    let kinds = received.iter().map(|received| match received {
        Ok(ServerNotification::Progress { .. }) => "progress",
        Ok(ServerNotification::Log(_)) => "log",
        Ok(ServerNotification::ToolsChanged) => "tools",
        Ok(ServerNotification::Other { .. }) => "other",
        Ok(_) => "unexpected",
        Err(_) => "lost",
    });
    kinds.collect()
}

#[tokio::test]
async fn each_reader_sees_all_notifications_from_its_start() {
    let answer = || vec![progress(1.0), log("info"), custom(), text("")];
    let script = Script::new([answer(), answer(), answer()]);
    let client = script.client().await;
    client.call("a", ()).await.unwrap();
    let early = client.notifications();
    let also_early = client.notifications();
    let mut call = client.call("a", ()).on_progress(|_| ()).on_log(|_| ());
    let id = call.id();
    call.await.unwrap();
    let late = client.notifications();
    client.call("a", ()).on_custom(|_, _| ()).await.unwrap();
    drop(client);
    let early: Vec<_> = early.collect().await;
    assert_eq!(kinds(&early), ["progress", "log", "other", "log", "other"]);
    assert_eq!(early, also_early.collect::<Vec<_>>().await);
    let Ok(ServerNotification::Progress { token, .. }) = &early[0] else {
        panic!("{early:?}")
    };
    assert_eq!(*token.as_id(), id);
    assert_eq!(kinds(&late.collect::<Vec<_>>().await), ["log", "other"]);
}

#[tokio::test]
async fn slow_reader_learns_how_many_notifications_are_lost() {
    let many = (0..300).map(|_| log("info")).chain([text("")]);
    let script = Script::new([many.collect::<Vec<_>>()]);
    let client = script.client().await;
    let mut slow = client.notifications();
    // The reader does not hold up the call.
    client.call("add", ()).await.unwrap();
    drop(client);
    let lost = slow.next().await.unwrap().unwrap_err();
    assert_eq!(lost.count, 44);
    assert!(lost.to_string().starts_with("44 notifications"));
    assert_eq!((&mut slow).count().await, 256);
    assert!(slow.next().await.is_none());
}

/// Suppresses ticks.
async fn without_ticks(exchange: Exchange, next: Next) -> Reply {
    if exchange.call.method_name() == "notifications/clock/tick" {
        return ResultBody::Empty.into();
    }
    next.run(exchange).await
}

#[tokio::test]
async fn session_notifications_reach_readers_once_and_after_the_layers() {
    for is_layered in [false, true] {
        let builder = Client::builder();
        let (builder, expected) = if is_layered {
            let builder = builder.inbound_layer(from_fn(without_ticks));
            (builder, ["progress", "log", "tools", "log"].as_slice())
        } else {
            let expected = ["progress", "log", "other", "tools", "log"].as_slice();
            (builder, expected)
        };
        let call = vec![progress(1.0), log("error"), custom(), text("done")];
        let (client, _script, inbound) = session(builder, [call]).await;
        let received = client.notifications();
        client.call("a", ()).on_progress(|_| ()).await.unwrap();
        for message in [
            json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}),
            json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}}),
        ] {
            inbound.send(Frame::new(message.to_string())).unwrap();
        }
        let received: Vec<_> = received.take(expected.len()).collect().await;
        assert_eq!(kinds(&received), expected);
    }
}

#[tokio::test]
async fn call_is_cancelled_by_its_request_id() {
    let required = json!({"resultType": "input_required", "requestState": "s"});
    let script = Script::new([vec![result(&required)]]);
    let client = script.client().await;
    let mut call = client.call("a", ());
    let id = call.id();
    assert_eq!(id, call.id());
    let running = tokio::spawn(call.into_future());
    while script.sent().len() < 2 {
        yield_now().await;
    }
    // The first request has the id. The second one, with the input, has a new id.
    let sent: Vec<_> = script
        .sent()
        .iter()
        .map(|sent| sent.body["id"].clone())
        .collect();
    assert_eq!(sent[0], json!(id));
    assert_ne!(sent[0], sent[1]);
    assert!(!client.cancel(&"other".into()));
    assert!(!client.cancel(&RequestId::from(99)));
    assert!(client.clone().cancel(&id));
    let error = running.await.unwrap().unwrap_err();
    assert!(error.is_cancelled() && error.may_have_run(), "{error}");
    assert_eq!(script.cancelled(), 1);
    assert!(!client.cancel(&id));
}

#[tokio::test]
async fn cancelled_call_is_not_sent_and_ended_calls_are_forgotten() {
    let script = Script::new([vec![text("")]]);
    let client = script.client().await;
    let mut call = client.call("a", ()).cancel_on(pending());
    let id = call.id();
    assert!(client.cancel(&id));
    assert!(call.await.unwrap_err().is_cancelled());
    assert!(script.sent().is_empty());

    let mut dropped = client.call("a", ());
    let id = dropped.id();
    drop(dropped);
    assert!(!client.cancel(&id));

    let mut call = client.call("a", ());
    let id = call.id();
    call.await.unwrap();
    assert!(!client.cancel(&id));
    // A signal of the caller still counts.
    let mut call = client.call("a", ()).cancel_on(ready(()));
    call.id();
    assert!(call.await.unwrap_err().is_cancelled());
}

#[tokio::test]
async fn layers_see_the_call_id() {
    let (sender, mut seen) = mpsc::unbounded_channel();
    let layer = from_fn(move |exchange: Exchange, next: Next| {
        sender.send(exchange.id.clone()).unwrap();
        next.run(exchange)
    });
    let script = Script::new([vec![text("")]]);
    let mode = ConnectMode::Pin(ProtocolVersion::LATEST);
    let builder = Client::builder().mode(mode).layer(layer);
    let client = builder.connect(Over(script.channel())).await.unwrap();
    let mut call = client.call("a", ());
    let id = call.id();
    call.await.unwrap();
    assert_eq!(seen.recv().await.unwrap(), Some(id.clone()));
    assert_eq!(script.sent()[0].body["id"], json!(id));
}

#[tokio::test]
async fn client_metadata_is_in_every_request() {
    const KEY: &str = "com.example/conversation";
    let builder = || {
        Client::builder()
            .meta(KEY, "c-17")
            .meta("com.example/app", "chat")
    };
    let tools = || vec![result(&json!({"resultType": "complete", "tools": []}))];
    let script = Script::new([tools(), vec![text("")], vec![text("")]]);
    let modern = builder().mode(ConnectMode::Pin(ProtocolVersion::LATEST));
    let modern = modern.connect(Over(script.channel())).await.unwrap();
    let (legacy, session, _inbound) =
        session(builder(), [tools(), vec![text("")], vec![text("")]]).await;
    for client in [modern, legacy] {
        client.list_tools().await.unwrap();
        client.call("a", ()).await.unwrap();
        client.call("a", ()).meta(KEY, "own").await.unwrap();
    }
    let values = |script: &Script| -> Vec<Value> {
        let sent = script.sent();
        assert!(
            sent.iter()
                .all(|sent| sent.meta("com.example/app") == "chat")
        );
        sent.iter().map(|sent| sent.meta(KEY).clone()).collect()
    };
    assert_eq!(values(&script), ["c-17", "c-17", "own"]);
    // The first request is `initialize`.
    assert_eq!(values(&session), ["c-17", "c-17", "c-17", "own"]);
}

#[tokio::test]
async fn metadata_that_the_protocol_sets_is_refused() {
    for key in ["progressToken", "io.modelcontextprotocol/protocolVersion"] {
        let script = Script::new([]);
        let builder = Client::builder().meta(key, "x");
        let error = builder.connect(Over(script.channel())).await.unwrap_err();
        assert!(error.to_string().contains(key), "{error}");
        assert!(script.sent().is_empty());
    }
}

//! Broken streams, cancelled calls, traces and logs.

use std::future::{pending, ready};
use std::time::Duration;

use futures::StreamExt;
use mcp_client::{Client, ConnectMode, Over};
use mcp_core::{ChannelError, ServerNotification};
use mcp_types::meta::{TraceContext, TraceParent};
use mcp_types::{LoggingLevel, ProtocolVersion};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::script::{Script, Step, log, progress, refuse, result, text, wait};

fn broken() -> Step {
    Step::Fail(ChannelError::Broken {
        source: Some("reset".into()),
    })
}

// spec: RSM-11
#[tokio::test(start_paused = true)]
async fn broken_read_is_repeated_twice() {
    let script = Script::new([
        vec![broken()],
        vec![],
        vec![result(&json!({"resultType": "complete", "tools": []}))],
        vec![broken()],
        vec![broken()],
        vec![broken()],
    ]);
    let client = script.client().await;
    assert_eq!(client.list_tools().await.unwrap().len(), 0);
    let sent = script.sent();
    let ids: Vec<_> = sent.iter().map(|sent| &sent.body["id"]).collect();
    assert_eq!(ids, [1, 2, 3]);
    // After two repetitions the call fails.
    let error = client.list_tools().await.unwrap_err();
    assert!(error.is_closed() && error.is_retryable() && error.may_have_run());
    // A reader of the message does not ask whether a list was requested twice.
    assert!(!error.to_string().contains("may have executed"), "{error}");
    assert_eq!(script.sent().len(), 6);
}

#[tokio::test(start_paused = true)]
async fn broken_tool_call_is_repeated_only_if_idempotent() {
    let script = Script::new([
        vec![progress(1.0), broken()],
        vec![broken()],
        vec![text("done")],
    ]);
    let client = script.client().await;
    let error = client.call("pay", ()).await.unwrap_err();
    assert!(error.may_have_run() && error.is_closed() && error.is_retryable());
    assert_eq!(
        error.to_string(),
        "tools/call \"pay\" at script:: the connection broke before the answer was there: reset; \
         the server may have executed the call, so it was not repeated (allow that with \
         `idempotent`)"
    );
    let done = client.call("pay", ()).idempotent(true).await.unwrap();
    assert_eq!(done.text(), "done");
    let script = Script::new([vec![broken()]]);
    let error = script
        .client()
        .await
        .read_resource("file:///once")
        .idempotent(false)
        .await;
    assert!(error.unwrap_err().may_have_run());
}

#[tokio::test(start_paused = true)]
async fn annotated_tool_is_idempotent() {
    let tool = |name: &str, annotations: serde_json::Value| json!({"name": name, "inputSchema": {"type": "object"}, "annotations": annotations});
    let tools = json!([
        tool("look", json!({"readOnlyHint": true})),
        tool("set", json!({"idempotentHint": true})),
        tool("pay", json!({"readOnlyHint": false})),
    ]);
    let list = vec![result(&json!({"resultType": "complete", "tools": tools}))];
    let again = || [vec![broken()], vec![text("done")]];
    let answers = [list].into_iter().chain(again()).chain(again());
    let script = Script::new(answers.chain([vec![broken()]]));
    let client = script.client().await;
    client.list_tools().await.unwrap();
    assert_eq!(client.call("look", ()).await.unwrap().text(), "done");
    assert_eq!(client.call("set", ()).await.unwrap().text(), "done");
    assert!(client.call("pay", ()).await.unwrap_err().may_have_run());
}

#[tokio::test(start_paused = true)]
async fn call_with_input_is_not_repeated() {
    let asks = result(&json!({"resultType": "input_required", "requestState": "s"}));
    let script = Script::new([vec![asks], vec![broken()], vec![text("never")]]);
    let call = script.client().await.call("add", ()).idempotent(true);
    assert!(call.await.unwrap_err().is_closed());
    assert_eq!(script.sent().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn repetition_respects_total_timeout() {
    let script = Script::new([vec![wait(9), broken()], vec![wait(9), broken()]]);
    let client = script.client().await;
    let start = Instant::now();
    let call = client
        .list_tools()
        .page(None)
        .max_total_timeout(Duration::from_secs(10));
    assert!(call.await.unwrap_err().is_timeout());
    assert_eq!(start.elapsed().as_secs(), 10);
}

#[tokio::test(start_paused = true)]
async fn cancel_signal_fails_call() {
    let script = Script::new([vec![wait(100), text("late")]]);
    let client = script.client().await;
    let signal = sleep(Duration::from_secs(3));
    let error = client.call("add", ()).cancel_on(signal).await.unwrap_err();
    assert!(error.is_cancelled() && !error.is_timeout());
    let message = "tools/call \"add\" at script:: the caller has cancelled the call";
    assert_eq!(error.to_string(), message);
    assert_eq!(script.cancelled(), 1);

    // Cancellation also works while a handler runs, and for single steps.
    let asks = || {
        vec![result(
            &json!({"resultType": "input_required", "inputRequests": {
                "it": {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}},
            }}),
        )]
    };
    let script = Script::new([asks(), asks(), vec![wait(100)]]);
    let slow = |_| pending::<mcp_types::CreateMessageResult>();
    let mode = ConnectMode::Pin(ProtocolVersion::LATEST);
    let builder = Client::builder().mode(mode).on_sample(slow);
    let client = builder.connect(Over(script.channel())).await.unwrap();
    let call = client
        .call("add", ())
        .cancel_on(sleep(Duration::from_secs(3)));
    assert!(call.await.unwrap_err().is_cancelled());
    let call = client
        .call("add", ())
        .cancel_on(sleep(Duration::from_secs(3)));
    let mcp_client::Step::InputRequired(asks) = call.step().await.unwrap() else {
        panic!()
    };
    let answer = mcp_types::CreateMessageResult::new("m", "hi");
    assert!(
        asks.answer([("it", answer)])
            .await
            .unwrap_err()
            .is_cancelled()
    );

    let script = Script::new([vec![text("done")]]);
    let call = script.client().await.call("add", ()).cancel_on(pending());
    assert_eq!(call.await.unwrap().text(), "done");
    let call = script.client().await.call("add", ()).cancel_on(ready(()));
    assert!(call.await.unwrap_err().is_cancelled());
    assert_eq!(script.sent().len(), 1);
}

#[tokio::test]
async fn trace_context_is_sent() {
    let script = Script::new([vec![text("")]]);
    let trace = TraceContext::from(TraceParent::new(7, 9).unwrap());
    let call = script.client().await.call("add", ()).trace(&trace);
    call.await.unwrap();
    let told = script.sent()[0].meta("traceparent").clone();
    assert_eq!(
        told,
        "00-00000000000000000000000000000007-0000000000000009-00"
    );
}

#[tokio::test]
async fn logs_yield_messages_from_all_calls() {
    let script = Script::new([
        vec![log("info"), log("error"), text("")],
        vec![log("debug"), text("")],
        vec![text("")],
    ]);
    let mode = ConnectMode::Pin(ProtocolVersion::LATEST);
    let builder = Client::builder().mode(mode).log_level(LoggingLevel::Info);
    let client = builder.connect(Over(script.channel())).await.unwrap();
    let notifications = client.notifications();
    client.call("add", ()).await.unwrap();
    client
        .call("add", ())
        .log_level(LoggingLevel::Debug)
        .await
        .unwrap();
    client.set_log_level(None).await.unwrap();
    client.call("add", ()).await.unwrap();
    let levels: Vec<_> = script
        .sent()
        .iter()
        .map(|sent| sent.meta("io.modelcontextprotocol/logLevel").clone())
        .collect();
    assert_eq!(levels, [json!("info"), json!("debug"), json!(null)]);
    drop(client);
    let told: Vec<_> = notifications
        .map(|received| match received.unwrap() {
            ServerNotification::Log(message) => message.level,
            other => panic!("{other:?}"),
        })
        .collect()
        .await;
    let expected = [LoggingLevel::Info, LoggingLevel::Error, LoggingLevel::Debug];
    assert_eq!(told, expected);
}

fn unavailable(retry_after: Option<u64>) -> Step {
    Step::Fail(ChannelError::Status {
        status: http::StatusCode::SERVICE_UNAVAILABLE,
        excerpt: String::new(),
        retry_after: retry_after.map(Duration::from_secs),
        challenge: None,
    })
}

#[tokio::test(start_paused = true)]
async fn unavailable_server_is_asked_again_after_the_time_it_names() {
    let error = r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":-32603,"message":"starting"}}"#;
    for (step, seconds) in [
        (unavailable(None), 0),
        (unavailable(Some(3)), 3),
        (unavailable(Some(3600)), 10),
        (refuse(503, error), 0),
    ] {
        let script = Script::new([vec![step], vec![text("done")]]);
        let client = script.client().await;
        let start = Instant::now();
        let done = client.call("pay", ()).idempotent(true).await.unwrap();
        assert_eq!(
            (done.text(), start.elapsed().as_secs()),
            ("done".into(), seconds)
        );
    }
    for step in [unavailable(None), refuse(503, error)] {
        let script = Script::new([vec![step], vec![text("done")]]);
        let error = script.client().await.call("pay", ()).await.unwrap_err();
        assert!(error.is_retryable(), "{error}");
        assert_eq!(script.sent().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn refused_connection_is_tried_again_for_each_call() {
    let refused = || {
        let source = std::io::Error::from(std::io::ErrorKind::ConnectionRefused).into();
        let peer = "x".to_owned();
        vec![Step::Fail(ChannelError::Connect { peer, source })]
    };
    let script = Script::new([
        refused(),
        refused(),
        vec![text("done")],
        refused(),
        refused(),
        refused(),
    ]);
    let client = script.client().await;
    assert_eq!(client.call("pay", ()).await.unwrap().text(), "done");
    let error = client.call("pay", ()).await.unwrap_err();
    assert!(!error.may_have_run() && error.is_retryable(), "{error}");
    assert_eq!(script.sent().len(), 6);
    let other = Step::Fail(ChannelError::Connect {
        peer: "x".to_owned(),
        source: "no such host".into(),
    });
    let script = Script::new([vec![other]]);
    script.client().await.call("pay", ()).await.unwrap_err();
    assert_eq!(script.sent().len(), 1);
}

//! Calls in process and over HTTP.

use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _};
use mcp::core::Fault;
use mcp::prelude::*;
use serde_json::json;

use crate::kit::{CONNECTIONS, Connection, Running, connect};

#[tokio::test]
async fn client_knows_server_info_and_capabilities() {
    for connection in CONNECTIONS {
        let (client, _server) = connect(connection, &Running::default()).await;
        let info = client.server_info().unwrap();
        assert_eq!(
            (info.name.as_str(), info.version.as_str()),
            ("desk", "1.2.3"),
            "{connection:?}"
        );
        assert_eq!(info.description.as_deref(), Some("A desk."));
        assert_eq!(client.instructions().as_deref(), Some("Be polite."));
        assert_eq!(client.protocol_version(), ProtocolVersion::V2026_07_28);
        let capabilities = client.server_capabilities().unwrap();
        assert!(capabilities.tools.is_some() && capabilities.logging.is_some());
    }
}

// spec: TOOL-03
#[tokio::test]
async fn lists_have_stable_order() {
    for connection in CONNECTIONS {
        let (client, _server) = connect(connection, &Running::default()).await;
        let tools = client.list_tools().await.unwrap();
        let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(
            names,
            ["add", "count", "wait", "panic", "tenant", "echo"],
            "{connection:?}"
        );
        assert_eq!(
            tools[0].description.as_deref().unwrap_or_default(),
            "Add two numbers."
        );
        assert_eq!(tools[0].input_schema["required"], json!(["a", "b"]));
        let streamed: Vec<Tool> = client.list_tools().stream().try_collect().await.unwrap();
        assert_eq!(streamed, tools);
    }
}

#[tokio::test]
async fn invalid_arguments_unknown_tools_and_panics_are_errors() {
    for connection in CONNECTIONS {
        let (client, _server) = connect(connection, &Running::default()).await;
        let sum: f64 = client
            .call("add", json!({"a": 1, "b": 2}))
            .await
            .unwrap()
            .parse()
            .unwrap();
        assert_eq!(sum, 3.0, "{connection:?}");

        let wrong = client.call("add", json!({"a": 1, "b": "2"})).await.unwrap();
        assert!(
            wrong.is_error() && wrong.text().contains("`b`"),
            "{wrong:?}"
        );

        let unknown = client.call("nope", ()).await.unwrap_err();
        assert!(unknown.to_string().contains("nope"), "{unknown}");
        assert!(matches!(unknown.fault(), Some(Fault::Protocol(error)) if error.code == -32602));

        let broken = client.call("panic", ()).await.unwrap_err();
        assert!(matches!(broken.fault(), Some(Fault::Protocol(error)) if error.code == -32603));
        assert!(!broken.to_string().contains("on purpose"), "{broken}");
        assert_eq!(
            client
                .call("add", json!({"a": 1, "b": 2}))
                .await
                .unwrap()
                .text(),
            "3"
        );
    }
}

// spec: PROG-01
#[tokio::test]
async fn progress_and_logs_precede_result() {
    for connection in CONNECTIONS {
        let (client, _server) = connect(connection, &Running::default()).await;
        let mut steps = Vec::new();
        let mut logs = Vec::new();
        let result = client
            .call("count", json!({"to": 3}))
            .on_progress(|progress| steps.push((progress.progress, progress.message)))
            .on_log(|message| logs.push(message.data))
            .await
            .unwrap();
        assert_eq!(result.text(), "counted", "{connection:?}");
        let report = |step: u32| (f64::from(step), Some(format!("step {step}")));
        assert_eq!(steps, [report(1), report(2), report(3)], "{connection:?}");
        assert_eq!(logs, [json!("counting")], "{connection:?}");
        // Without callbacks the client requests no notifications, and the result is the same.
        assert_eq!(
            client.call("count", json!({"to": 3})).await.unwrap().text(),
            "counted"
        );
    }
}

#[tokio::test]
async fn ten_thousand_reports_arrive_in_order() {
    for connection in CONNECTIONS {
        let (client, _server) = connect(connection, &Running::default()).await;
        let mut last = 0.0;
        let mut count = 0;
        client
            .call("count", json!({"to": 10_000}))
            .on_progress(|progress| {
                assert!(progress.progress > last);
                last = progress.progress;
                count += 1;
            })
            .await
            .unwrap();
        assert_eq!((count, last), (10_000, 10_000.0), "{connection:?}");
    }
}

#[tokio::test]
async fn dropped_call_is_cancelled() {
    for connection in CONNECTIONS {
        let running = Running::default();
        let (client, _server) = connect(connection, &running).await;
        let call = client.call("wait", ()).into_future();
        let mut call = std::pin::pin!(Some(call));
        tokio::select! {
            _ = call.as_mut().as_pin_mut().unwrap() => panic!("the call never completes"),
            () = running.wait_for(1) => {}
        }
        call.set(None);
        running.wait_for(0).await;
    }
}

#[tokio::test]
async fn timed_out_call_is_cancelled() {
    for connection in CONNECTIONS {
        let running = Running::default();
        let (client, _server) = connect(connection, &running).await;
        let call = client.call("wait", ()).timeout(Duration::from_millis(50));
        let error = call.await.unwrap_err();
        assert!(error.is_timeout(), "{error}");
        running.wait_for(0).await;
    }
}

#[tokio::test]
async fn headers_reach_tools_over_http() {
    for connection in CONNECTIONS {
        let (client, _server) = connect(connection, &Running::default()).await;
        let result = client
            .call("tenant", ())
            .header("x-tenant", "blue")
            .await
            .unwrap();
        let expected = match connection {
            Connection::InProcess => "none",
            Connection::Http => "\"blue\"",
        };
        assert_eq!(result.text(), expected);
    }
}

#[tokio::test]
async fn concurrent_calls_get_their_own_results() {
    for connection in CONNECTIONS {
        let (client, _server) = connect(connection, &Running::default()).await;
        let calls = (0..200).map(|n| {
            let client = client.clone();
            async move {
                let text = format!("{n} {}", "x".repeat(n * 100));
                let echoed = client
                    .call("echo", json!({ "text": text }))
                    .await
                    .unwrap()
                    .text();
                assert!(echoed == text, "{n}");
            }
        });
        let done = futures_util::stream::iter(calls)
            .buffer_unordered(32)
            .count()
            .await;
        assert_eq!(done, 200, "{connection:?}");
    }
}

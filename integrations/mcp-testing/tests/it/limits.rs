//! Size limits, and failures to connect.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp::middleware::RateLimit;
use mcp::prelude::*;
use mcp_testing::Pair;
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;
use tower::ServiceBuilder;

use crate::kit::{Running, TestServer, server};

#[tokio::test]
async fn oversized_request_is_refused_and_next_call_succeeds() {
    let endpoint = StreamableHttp::new(server(&Running::default())).body_limit(10_000);
    let test_server = TestServer::start(endpoint).await;
    let client = Client::connect(test_server.url()).await.unwrap();
    let error = client
        .call("echo", json!({"text": "x".repeat(20_000)}))
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("413") || error.to_string().contains("10000"),
        "{error}"
    );
    assert_eq!(
        client
            .call("echo", json!({"text": "x"}))
            .await
            .unwrap()
            .text(),
        "x"
    );
}

/// Every transport and era says that the call did not run, and when to repeat it.
#[tokio::test]
async fn call_beyond_a_limit_is_retryable_after_a_wait() {
    let shed = || ServiceBuilder::new().load_shed().concurrency_limit(0);
    let limited = || RateLimit::new(1, Duration::from_secs(600));
    for version in [ProtocolVersion::LATEST, ProtocolVersion::LATEST_LEGACY] {
        let ran = Arc::new(AtomicUsize::new(0));
        let server = || {
            let count = ran.clone();
            let work = move || {
                count.fetch_add(1, Ordering::Relaxed);
                "done"
            };
            Server::new("mail", "1.0.0")
                .tool(Tool::new("send").handler(work.clone()).layer(limited()))
                .tool(Tool::new("shed").handler(work).layer(shed()))
        };
        for pair in [
            Pair::http(server()),
            Pair::stdio(server()),
            Pair::messages(server()),
        ] {
            ran.store(0, Ordering::Relaxed);
            let pair = pair.revision(version).connect().await.unwrap();
            assert_eq!(
                pair.client.call("send", json!({})).await.unwrap().text(),
                "done"
            );
            for (tool, seconds, text) in [
                ("send", 600, "too many calls; try again in 600 s"),
                ("shed", 1, "overloaded; try again in 1 s"),
            ] {
                let error = pair.client.call(tool, json!({})).await.unwrap_err();
                assert!(error.is_retryable() && !error.may_have_run(), "{error}");
                assert_eq!(error.retry_after(), Some(Duration::from_secs(seconds)));
                assert!(error.to_string().contains(text), "{error}");
            }
            assert_eq!(ran.load(Ordering::Relaxed), 1);
            let transcript = pair.transcript().to_string();
            assert!(
                transcript.contains(r#""data":{"retryAfter":600}"#),
                "{transcript}"
            );
        }
    }
}

#[tokio::test]
async fn megabyte_is_echoed() {
    let test_server = TestServer::start(StreamableHttp::new(server(&Running::default()))).await;
    let client = Client::connect(test_server.url()).await.unwrap();
    let text = "ä\n\"".repeat(250_000);
    let result = client.call("echo", json!({ "text": text })).await.unwrap();
    assert!(result.text() == text);
}

#[tokio::test]
async fn closed_port_is_connection_error() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    drop(listener);
    let error = Client::connect(&url).await.unwrap_err();
    assert!(error.is_closed() || error.is_retryable(), "{error:?}");
    assert!(error.to_string().contains("127.0.0.1"), "{error}");
}

#[tokio::test]
async fn non_mcp_server_is_connection_error() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi";
            let _ = stream.write_all(page.as_bytes()).await;
        }
    });
    let error = Client::connect(&url).await.unwrap_err();
    assert!(!error.is_timeout(), "{error}");
}

#[tokio::test]
async fn server_with_missing_state_is_refused() {
    let broken =
        Server::new("broken", "1").tool(Tool::new("x").handler(|State(text): State<String>| text));
    let error = mcp_testing::connect(broken).await.unwrap_err();
    assert!(error.to_string().contains("State<"), "{error}");
}

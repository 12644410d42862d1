//! Size limits, and failures to connect.

use mcp::prelude::*;
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;

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

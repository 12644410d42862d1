//! Valid requests over sockets.

use std::time::Duration;

use mcp_types::ProgressUpdate;

use crate::support::{echo, endpoint, start, text};

#[tokio::test]
async fn one_connection_serves_many_requests() {
    let server = start(endpoint(echo), |serve| serve).await;
    let mut client = server.connect().await;
    for name in ["one", "two", "three"] {
        client.call(name, false).await;
        assert_eq!(client.json().await["result"]["content"][0]["text"], name);
    }
    // Pipelining: both requests are sent before the first response is read.
    for name in ["four", "five"] {
        client.call(name, true).await;
    }
    for name in ["four", "five"] {
        assert_eq!(client.json().await["result"]["content"][0]["text"], name);
    }
    server.stop().await;
}

#[tokio::test]
async fn notifications_are_streamed_without_delay() {
    let go = std::sync::Arc::new(tokio::sync::Notify::new());
    let gate = go.clone();
    let server = start(
        endpoint(move |exchange| {
            let gate = gate.clone();
            async move {
                exchange
                    .notifications
                    .report_progress(ProgressUpdate::new(1.0))
                    .await;
                gate.notified().await;
                exchange
                    .notifications
                    .report_progress(ProgressUpdate::new(2.0))
                    .await;
                text("done")
            }
        }),
        |serve| serve,
    )
    .await;
    let mut client = server.connect().await;
    client.call("t", true).await;
    let head = client.head().await.unwrap();
    assert_eq!(head.status, 200);
    assert_eq!(head.header("content-type"), Some("text/event-stream"));
    assert_eq!(head.header("cache-control"), Some("no-store, no-transform"));
    assert_eq!(head.header("x-accel-buffering"), Some("no"));
    let first = client.chunk().await.unwrap();
    assert!(first.starts_with("event: message\ndata: ") && first.contains("\"progress\":1"));
    go.notify_one();
    let rest = client.chunks().await;
    let (progress, answer) = rest.split_once("\n\n").unwrap();
    assert!(progress.contains("\"progress\":2") && answer.contains("done"));
    // The connection can be used again.
    go.notify_one();
    client.call("t", false).await;
    assert_eq!(client.json().await["id"], 1);
    server.stop().await;
}

#[tokio::test]
async fn silent_stream_gets_comments() {
    let endpoint = endpoint(|_| std::future::pending())
        .commit_after(Duration::from_millis(1))
        .ping_interval(Duration::from_millis(1));
    let server = start(endpoint, |serve| serve).await;
    let mut client = server.connect().await;
    client.call("t", false).await;
    client.head().await.unwrap();
    assert_eq!(client.chunk().await.unwrap(), ":\n\n");
    for _ in 0..3 {
        assert_eq!(client.chunk().await.unwrap(), ": ping\n\n");
    }
    drop(client);
    server.stop().await;
}

// spec: HTTP-S-01
#[tokio::test]
async fn unknown_path_is_404() {
    let server = start(endpoint(echo), |serve| serve.path("/here")).await;
    let mut client = server.connect().await;
    client.call("t", false).await;
    let (head, body) = client.response().await.unwrap();
    assert_eq!(head.status, 404);
    assert!(
        head.header("content-type")
            .unwrap()
            .starts_with("text/plain")
    );
    assert!(body.contains("/here"));
    client
        .send("GET /here HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .await;
    let (head, _) = client.response().await.unwrap();
    assert_eq!((head.status, head.header("allow")), (405, Some("POST")));
    server.stop().await;
}

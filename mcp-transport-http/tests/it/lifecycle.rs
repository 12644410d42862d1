//! Shutdown of a server.

use std::sync::Arc;
use std::time::Duration;

use mcp_transport_http::Shutdown;
use tokio::net::TcpStream;
use tokio::sync::Notify;

use crate::support::{drained, dual_endpoint, echo, endless, endpoint, start, text, within};

#[tokio::test]
async fn draining_server_finishes_running_calls_and_accepts_no_connection() {
    let (begun, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let flags = (Arc::clone(&begun), Arc::clone(&go));
    let endpoint = endpoint(move |_| {
        let (begun, go) = (Arc::clone(&flags.0), Arc::clone(&flags.1));
        async move {
            begun.notify_one();
            go.notified().await;
            text("finished")
        }
    });
    let server = start(endpoint, |serve| serve).await;
    let mut idle = server.connect().await;
    let mut client = server.connect().await;
    client.call("t", false).await;
    within(begun.notified()).await;

    server.shutdown.drain();
    idle.closed().await;
    within(async {
        while TcpStream::connect(server.addr).await.is_ok() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert!(!server.task.is_finished());

    go.notify_one();
    assert_eq!(
        client.json().await["result"]["content"][0]["text"],
        "finished"
    );
    client.closed().await;
    server.stop().await;
}

#[tokio::test]
async fn call_beyond_the_drain_timeout_ends_with_an_error() {
    let (endpoint, begun, gone) = endless();
    let server = start(endpoint.commit_after(Duration::ZERO), |serve| {
        serve.drain_timeout(Duration::from_millis(50))
    })
    .await;
    // The reply is an error, and the stream ends with its last chunk.
    let rest = drained(&server, &begun).await;
    assert!(
        rest.contains("shutting down") && rest.contains("\"id\":1"),
        "{rest}"
    );
    within(gone.notified()).await;
    server.stop().await;
}

#[tokio::test]
async fn handler_does_not_see_the_shutdown_handle() {
    let endpoint = endpoint(|exchange| async move {
        let seen = exchange.extensions.get::<Shutdown>().is_some();
        text(if seen { "seen" } else { "alive" })
    });
    let server = start(endpoint, |serve| serve).await;
    server.assert_serving().await;
    server.stop().await;
}

#[tokio::test]
async fn shutdown_on_stops_the_server() {
    let stop = Arc::new(Notify::new());
    let signal = Arc::clone(&stop);
    let server = start(endpoint(echo), |serve| {
        serve.shutdown_on(async move { signal.notified().await })
    })
    .await;
    server.assert_serving().await;
    stop.notify_one();
    within(server.task).await.unwrap().unwrap();
}

#[tokio::test]
async fn dropped_server_closes_its_connections() {
    let (endpoint, begun, gone) = endless();
    let server = start(endpoint.commit_after(Duration::ZERO), |serve| serve).await;
    let mut client = server.connect().await;
    client.call("t", false).await;
    within(begun.notified()).await;
    server.task.abort();
    within(gone.notified()).await;
    client.closed().await;
}

/// Returns a request of a session.
fn legacy(verb: &str, session: &str, body: &str) -> String {
    let accept = "application/json, text/event-stream";
    let session = match session {
        "" => String::new(),
        session => format!("Mcp-Session-Id: {session}\r\n"),
    };
    format!(
        "{verb} /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Accept: {accept}\r\n{session}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[tokio::test]
async fn draining_server_ends_get_streams_and_finishes_calls() {
    const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
    const CALL: &str =
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{}}}"#;
    let go = Arc::new(Notify::new());
    let gate = Arc::clone(&go);
    let endpoint = dual_endpoint(move |_| {
        let gate = Arc::clone(&gate);
        async move {
            gate.notified().await;
            text("finished")
        }
    });
    let server = start(endpoint.commit_after(Duration::ZERO), |serve| serve).await;
    let (mut readers, mut callers) = (Vec::new(), Vec::new());
    for _ in 0..25 {
        let mut caller = server.connect().await;
        caller.send(legacy("POST", "", INITIALIZE)).await;
        let (head, _) = caller.response().await.unwrap();
        let session = head.header("mcp-session-id").unwrap().to_owned();
        let mut reader = server.connect().await;
        reader.send(legacy("GET", &session, "")).await;
        assert_eq!(reader.head().await.unwrap().status, 200);
        readers.push(reader);
        caller.send(legacy("POST", &session, CALL)).await;
        assert_eq!(caller.head().await.unwrap().status, 200);
        callers.push(caller);
    }
    server.shutdown.drain();
    for mut reader in readers {
        assert_eq!(reader.chunks().await, ":\n\n");
    }
    go.notify_waiters();
    for mut caller in callers {
        assert!(caller.chunks().await.contains("finished"));
    }
    server.stop().await;
}

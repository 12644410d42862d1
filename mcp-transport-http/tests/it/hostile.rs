//! Clients that violate the protocol. The server serves the next client afterwards.

use std::sync::Arc;
use std::time::Duration;

use mcp_types::ProgressUpdate;
use tokio::io::AsyncWriteExt;
use tokio::sync::Notify;

use crate::support::{Guard, call_text, echo, endless, endpoint, head_of, start, text, within};

const LIMIT: usize = 4 << 20;

#[tokio::test]
async fn garbage_is_rejected() {
    let server = start(endpoint(echo), |serve| serve).await;
    for bytes in [
        &b"\x00\xff\xfe\r\n\r\n"[..],
        b"{}\n",
        b"POST /mcp HTTP/9.9\r\n\r\n",
        b"\r\n\r\n\r\n",
    ] {
        let mut client = server.connect().await;
        client.send(bytes).await;
        drop(client);
        server.assert_serving().await;
    }
    let mut client = server.connect().await;
    client.post("t", "\u{0}{[garbage").await;
    assert_eq!(client.json().await["error"]["code"], -32700);
    // The connection stays open.
    client.call("t", false).await;
    assert_eq!(client.json().await["id"], 1);
    server.stop().await;
}

#[tokio::test]
async fn deeply_nested_json_is_rejected() {
    let server = start(endpoint(echo), |serve| serve).await;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let mut client = server.connect().await;
    client.post("t", &deep).await;
    assert_eq!(client.json().await["error"]["code"], -32600);
    client.post("t", &"{\"a\":".repeat(100_000)).await;
    assert_eq!(client.json().await["error"]["code"], -32700);
    let arguments = format!("\"arguments\":{{\"a\":{deep}}}");
    client
        .post(
            "t",
            &call_text("t", false).replace("\"arguments\":{}", &arguments),
        )
        .await;
    assert!(client.response().await.is_some());
    server.assert_serving().await;
    server.stop().await;
}

#[tokio::test]
async fn body_over_the_limit_is_413() {
    // spec: HTTP-S-10
    let server = start(endpoint(echo), |serve| serve).await;
    let body = vec![b' '; LIMIT + 1];
    // A client that sends the whole body before it reads the response.
    let mut announced = server.connect().await;
    announced
        .send(format!(
            "{}Content-Length: {}\r\n\r\n",
            head_of("t"),
            body.len()
        ))
        .await;
    announced.send(&body).await;
    assert_eq!(announced.response().await.unwrap().0.status, 413);

    let mut chunked = server.connect().await;
    let chunk = format!("Transfer-Encoding: chunked\r\n\r\n{:x}\r\n", body.len());
    chunked.send(head_of("t") + &chunk).await;
    chunked.send(&body).await;
    chunked.send("\r\n0\r\n\r\n").await;
    assert_eq!(chunked.response().await.unwrap().0.status, 413);

    // A client with `Expect: 100-continue` does not send the body.
    let mut polite = server.connect().await;
    let expect = format!(
        "Expect: 100-continue\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    polite.send(head_of("t") + &expect).await;
    assert_eq!(polite.response().await.unwrap().0.status, 413);
    server.assert_serving().await;
    server.stop().await;
}

#[tokio::test]
async fn incomplete_body_is_408() {
    let endpoint = endpoint(echo).body_timeout(Duration::from_millis(50));
    let server = start(endpoint, |serve| serve).await;
    let mut gone = server.connect().await;
    gone.send(format!(
        "{}Content-Length: 100\r\n\r\n{{\"jsonrpc\"",
        head_of("t")
    ))
    .await;
    drop(gone);
    let mut slow = server.connect().await;
    slow.send(format!(
        "{}Content-Length: 100\r\n\r\n{{\"jsonrpc\"",
        head_of("t")
    ))
    .await;
    assert_eq!(slow.response().await.unwrap().0.status, 408);
    server.assert_serving().await;
    server.stop().await;
}

#[tokio::test]
async fn incomplete_head_closes_the_connection() {
    let server = start(endpoint(echo), |serve| {
        serve.head_timeout(Duration::from_millis(50))
    })
    .await;
    let mut silent = server.connect().await;
    let mut slow = server.connect().await;
    slow.send("POST /mcp HTTP/1.1\r\nHost: loc").await;
    let mut second = server.connect().await;
    second.call("t", false).await;
    second.json().await;
    second.send("POST /mcp HT").await;
    for client in [&mut silent, &mut slow, &mut second] {
        client.closed().await;
    }
    server.stop().await;
}

#[tokio::test]
async fn oversized_head_is_431_and_invalid_head_is_400() {
    // spec: XHDR-23
    let server = start(endpoint(echo), |serve| serve).await;
    let mut client = server.connect().await;
    let many: String = (0..200).map(|n| format!("Mcp-Param-{n}: x\r\n")).collect();
    client.send(head_of("t") + &many + "\r\n").await;
    assert_eq!(client.head().await.unwrap().status, 431);
    let mut client = server.connect().await;
    client.send("{}\r\n\r\n").await;
    assert_eq!(client.head().await.unwrap().status, 400);
    server.assert_serving().await;
    server.stop().await;
}

#[tokio::test]
async fn idle_connection_is_closed() {
    let set = Duration::from_millis(20);
    let server = start(endpoint(echo), |serve| {
        serve.head_timeout(set).idle_timeout(2 * set)
    })
    .await;
    let mut client = server.connect().await;
    client.call("t", false).await;
    client.json().await;
    client.closed().await;
    server.stop().await;
}

#[tokio::test]
async fn disconnected_client_cancels_its_call() {
    // spec: HTTP-SM-15
    let (endpoint, begun, gone) = endless();
    let server = start(endpoint.clone(), |serve| serve).await;
    // Before the response head.
    let mut client = server.connect().await;
    client.call("t", false).await;
    within(begun.notified()).await;
    drop(client);
    within(gone.notified()).await;
    // After the response head.
    let streams = start(endpoint.commit_after(Duration::ZERO), |serve| serve).await;
    let mut client = streams.connect().await;
    client.call("t", false).await;
    assert_eq!(client.head().await.unwrap().status, 200);
    drop(client);
    within(gone.notified()).await;
    server.assert_serving().await;
    streams.assert_serving().await;
    server.stop().await;
    streams.stop().await;
}

#[tokio::test]
async fn client_that_stops_reading_does_not_block_the_call() {
    let finished = Arc::new(Notify::new());
    let flag = Arc::clone(&finished);
    let endpoint = endpoint(move |exchange| {
        let flag = Arc::clone(&flag);
        async move {
            let message = "x".repeat(100_000);
            // More bytes than the socket buffers hold.
            for step in 0..300 {
                let progress = ProgressUpdate::new(f64::from(step)).message(message.as_str());
                exchange.notifications.report_progress(progress).await;
            }
            flag.notify_one();
            text("done")
        }
    });
    let server = start(endpoint, |serve| serve).await;
    let mut client = server.connect().await;
    client.call("t", true).await;
    within(finished.notified()).await;
    assert_eq!(client.head().await.unwrap().status, 200);
    let whole = client.chunks().await;
    assert!(whole.contains("\"progress\":299") && whole.contains("done"));
    server.stop().await;
}

#[tokio::test]
async fn client_that_never_reads_again_is_disconnected() {
    let gone = Arc::new(Notify::new());
    let flag = Arc::clone(&gone);
    let endpoint = endpoint(move |exchange| {
        let guard = Guard(Arc::clone(&flag));
        async move {
            let message = "x".repeat(1_000_000);
            for step in 0.. {
                let progress = ProgressUpdate::new(f64::from(step)).message(message.as_str());
                exchange.notifications.report_progress(progress).await;
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            drop(guard);
            text("never")
        }
    });
    let set = Duration::from_millis(50);
    let server = start(endpoint, |serve| {
        serve.head_timeout(set).idle_timeout(2 * set)
    })
    .await;
    let mut client = server.connect().await;
    client.call("t", true).await;
    within(gone.notified()).await;
    server.stop().await;
}

#[tokio::test]
async fn connection_beyond_the_limit_waits() {
    let server = start(endpoint(echo), |serve| serve.max_connections(1)).await;
    let mut first = server.connect().await;
    first.call("one", false).await;
    first.json().await;
    let mut second = server.connect().await;
    second.call("two", false).await;
    // The first connection is still served.
    first.call("three", false).await;
    assert_eq!(first.json().await["result"]["content"][0]["text"], "three");
    first.stream.shutdown().await.unwrap();
    assert_eq!(second.json().await["result"]["content"][0]["text"], "two");
    server.stop().await;
}

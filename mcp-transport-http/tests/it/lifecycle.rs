//! The end of a server.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::sync::Notify;

use crate::support::{echo, endless, endpoint, start, text, within};

#[tokio::test]
async fn running_calls_finish_and_new_ones_are_not_begun() {
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
async fn what_does_not_finish_is_ended_properly() {
    let (endpoint, begun, gone) = endless();
    let server = start(endpoint.commit_after(Duration::ZERO), |serve| {
        serve.drain_timeout(Duration::from_millis(50))
    })
    .await;
    let mut client = server.connect().await;
    client.call("t", false).await;
    within(begun.notified()).await;
    assert_eq!(client.head().await.unwrap().status, 200);
    server.shutdown.drain();
    // An error as the answer, then the proper end of the stream.
    let rest = client.chunks().await;
    assert!(
        rest.contains("shutting down") && rest.contains("\"id\":1"),
        "{rest}"
    );
    within(gone.notified()).await;
    server.stop().await;
}

#[tokio::test]
async fn a_future_of_the_caller_stops_the_server() {
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
async fn a_server_that_is_dropped_takes_its_connections_along() {
    let (endpoint, begun, gone) = endless();
    let server = start(endpoint.commit_after(Duration::ZERO), |serve| serve).await;
    let mut client = server.connect().await;
    client.call("t", false).await;
    within(begun.notified()).await;
    server.task.abort();
    within(gone.notified()).await;
    client.closed().await;
}

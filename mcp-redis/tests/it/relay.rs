//! Messages between nodes.

use std::time::{Duration, Instant};

use mcp_core::store::{RelayEvent, RelayMessage, RelayTarget, SessionRelay};
use redis::cmd;
use tokio::time::{sleep, timeout};

use crate::server::{RedisServer, eventually};

fn message(text: &str) -> RelayMessage {
    RelayMessage {
        session: "s".to_owned(),
        event: RelayEvent::Response(text.to_owned()),
    }
}

#[tokio::test]
async fn message_reaches_its_node_or_all_others() {
    let Some(server) = RedisServer::start().await else {
        return;
    };
    let redis = server.connect().await.timeout(Duration::from_millis(500));
    let (a, b) = (redis.relay(), server.connect().await.relay());
    eventually("subscription", async || {
        let channels: Vec<String> = server.command(cmd("PUBSUB").arg(&["CHANNELS"])).await;
        let (_, others): (String, usize) = server
            .command(cmd("PUBSUB").arg(&["NUMSUB", "test:v1:relay"]))
            .await;
        channels.len() == 3 && others == 2
    })
    .await;
    assert_ne!(a.node(), b.node());
    assert!(a.node() < 1 << 20);
    let reached = a.send(RelayTarget::Node(b.node()), message("one")).await;
    assert_eq!(reached.unwrap(), 1);
    assert_eq!(b.receive().await, message("one"));
    assert_eq!(
        a.send(RelayTarget::Others, message("two")).await.unwrap(),
        1
    );
    assert_eq!(b.receive().await, message("two"));
    b.send(RelayTarget::Others, message("three")).await.unwrap();
    // Own messages are not received.
    assert_eq!(a.receive().await, message("three"));
    // A node that has left is not reached.
    let gone = b.node();
    drop(b);
    eventually("end of the subscription", async || {
        a.send(RelayTarget::Node(gone), message("late"))
            .await
            .unwrap()
            == 0
    })
    .await;
    assert!(
        timeout(Duration::from_millis(50), a.receive())
            .await
            .is_err()
    );
}

#[tokio::test]
async fn numbers_of_streams_increase_over_all_nodes_and_a_loss_of_data() {
    let Some(server) = RedisServer::start().await else {
        return;
    };
    let (a, b) = (
        server.connect().await.relay(),
        server.connect().await.relay(),
    );
    let mut last = 0;
    for round in 0..20 {
        if round == 10 {
            let _: () = server.command(&cmd("FLUSHALL")).await;
        }
        for relay in [&a, &b] {
            let number = relay.next_number().await.unwrap();
            assert!(number > last, "{number} after {last}");
            last = number;
        }
    }
}

#[tokio::test]
async fn killed_node_is_noticed_within_five_seconds() {
    let Some(server) = RedisServer::start().await else {
        return;
    };
    let (a, b) = (
        server.connect().await.relay(),
        server.connect().await.relay(),
    );
    let node = b.node();
    eventually("heartbeat", async || a.is_alive(node).await.unwrap()).await;
    // A mark that Redis lost is written again.
    let _: () = server.command(&cmd("FLUSHALL")).await;
    assert!(a.is_alive(node).await.unwrap());
    // The mark of a killed node stays until it expires.
    drop(b);
    let start = Instant::now();
    while a.is_alive(node).await.unwrap() {
        sleep(Duration::from_millis(100)).await;
    }
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "{:?}",
        start.elapsed()
    );
    let start = Instant::now();
    assert!(!a.is_alive(node).await.unwrap());
    assert!(
        start.elapsed() < Duration::from_millis(900),
        "a known end waits"
    );
}

//! Messages between nodes.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use mcp_core::store::{RelayEvent, RelayMessage, RelayTarget, SessionRelay};
use mcp_redis::Redis;
use redis::cmd;
use tokio::time::{sleep, timeout};

use crate::partition::Link;
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
async fn message_counts_when_its_node_has_acknowledged_it() {
    let Some(server) = RedisServer::start().await else {
        return;
    };
    let link = Link::start(server.port()).await;
    let cut_off = Redis::connect(&link.url()).await.unwrap().prefix("test");
    let redis = server.connect().await.timeout(Duration::from_millis(700));
    let (a, b) = (redis.relay(), cut_off.relay());
    let node = RelayTarget::Node(b.node());
    eventually("subscriptions", async || {
        a.send(node, message("first")).await.unwrap() == 1
    })
    .await;
    assert_eq!(b.receive().await, message("first"));
    // Redis still has a connection that is subscribed.
    link.is_cut.send(true).unwrap();
    for _ in 0..2 {
        assert_eq!(a.send(node, message("lost?")).await.unwrap(), 0);
    }
    link.is_cut.send(false).unwrap();
    eventually("recovery", async || {
        a.send(node, message("last")).await.unwrap() == 1
    })
    .await;
    while b.receive().await != message("last") {}
}

#[tokio::test]
async fn all_messages_in_a_burst_are_acknowledged() {
    let Some(server) = RedisServer::start().await else {
        return;
    };
    let (a, b) = (
        server.connect().await.relay(),
        server.connect().await.relay(),
    );
    let node = RelayTarget::Node(b.node());
    eventually("subscriptions", async || {
        a.send(node, message("first")).await.unwrap() == 1
    })
    .await;
    let sent = join_all((0..2_000).map(|_| a.send(node, message("one")))).await;
    assert!(sent.into_iter().all(|reached| reached.unwrap() == 1));
}

#[tokio::test]
async fn stream_numbers_increase_across_nodes_and_after_data_loss() {
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

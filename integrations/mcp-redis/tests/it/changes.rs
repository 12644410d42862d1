//! Changes between nodes.

use std::time::Duration;

use mcp_core::{ChangeBus, ChangeEvent, Watch};
use mcp_types::SubscriptionFilter;
use redis::cmd;

use crate::server::{RedisServer, eventually};

fn updated(uri: &str) -> ChangeEvent {
    ChangeEvent::Resource { uri: uri.into() }
}

fn everything() -> SubscriptionFilter {
    SubscriptionFilter::new().tools_changed().resource("a://a")
}

fn drain(watch: &Watch) -> Vec<ChangeEvent> {
    std::iter::from_fn(|| watch.try_next()).collect()
}

async fn wait_for_subscribers(server: &RedisServer, count: usize) {
    eventually("subscription", async || {
        let (_, subscribers): (String, usize) = server
            .command(cmd("PUBSUB").arg(&["NUMSUB", "test:v1:changes"]))
            .await;
        subscribers == count
    })
    .await;
    // Subscribers are registered before they have loaded the number of the last change.
    tokio::time::sleep(Duration::from_millis(50)).await;
}

/// Returns the ids of the connections with subscriptions.
async fn subscriptions(server: &RedisServer) -> Vec<String> {
    let list: String = server
        .command(cmd("CLIENT").arg(&["LIST", "TYPE", "pubsub"]))
        .await;
    let ids = list.lines().filter_map(|line| line.split(' ').next());
    ids.map(str::to_owned).collect()
}

#[tokio::test]
async fn change_reaches_subscribers_of_all_nodes_once() {
    let Some(server) = RedisServer::start().await else {
        return;
    };
    let (a, b) = (server.connect().await.bus(), server.connect().await.bus());
    wait_for_subscribers(&server, 2).await;
    let (here, there) = (a.watch(everything()), b.watch(everything()));
    a.publish(ChangeEvent::Tools);
    a.publish(ChangeEvent::Prompts);
    a.publish(updated("a://a"));
    a.publish(updated("a://b"));
    // The node itself does not wait for Redis.
    assert_eq!(drain(&here), [ChangeEvent::Tools, updated("a://a")]);
    let mut received = Vec::new();
    eventually("delivery", async || {
        received.extend(drain(&there));
        received.len() == 2
    })
    .await;
    assert!(received.contains(&ChangeEvent::Tools) && received.contains(&updated("a://a")));
    b.publish(ChangeEvent::Tools);
    eventually("delivery", async || drain(&here) == [ChangeEvent::Tools]).await;
    assert_eq!(drain(&there), [ChangeEvent::Tools]);
}

#[tokio::test]
async fn interrupted_subscriber_is_told_what_it_may_have_missed() {
    let Some(server) = RedisServer::start().await else {
        return;
    };
    let (a, b) = (server.connect().await.bus(), server.connect().await.bus());
    wait_for_subscribers(&server, 2).await;
    let there = b.watch(everything());
    // An interruption without changes is not reported.
    let before = subscriptions(&server).await;
    let _: usize = server
        .command(cmd("CLIENT").arg(&["KILL", "TYPE", "pubsub"]))
        .await;
    eventually("reconnection", async || {
        let now = subscriptions(&server).await;
        now.len() == 2 && now.iter().all(|id| !before.contains(id))
    })
    .await;
    wait_for_subscribers(&server, 2).await;
    assert_eq!(drain(&there), []);
    // Both nodes are disconnected while the change is published.
    let mut kill_and_publish = redis::pipe();
    kill_and_publish
        .cmd("CLIENT")
        .arg(&["KILL", "TYPE", "pubsub"])
        .cmd("HINCRBY")
        .arg(&["test:v1:changes", "n", "1"]);
    a.publish(ChangeEvent::Tools);
    eventually("first change", async || {
        drain(&there) == [ChangeEvent::Tools]
    })
    .await;
    let client = redis::Client::open(server.url()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let _: (usize, u64) = kill_and_publish.query_async(&mut connection).await.unwrap();
    let mut received = Vec::new();
    eventually("notification after the gap", async || {
        received.extend(drain(&there));
        received.len() == 2
    })
    .await;
    assert!(received.contains(&ChangeEvent::Tools) && received.contains(&updated("a://a")));
}

#[tokio::test]
async fn change_during_an_outage_is_published_afterwards() {
    let Some(mut server) = RedisServer::start().await else {
        return;
    };
    let (a, b) = (server.connect().await.bus(), server.connect().await.bus());
    wait_for_subscribers(&server, 2).await;
    let (here, there) = (a.watch(everything()), b.watch(everything()));
    server.kill();
    a.publish(ChangeEvent::Tools);
    assert_eq!(drain(&here), [ChangeEvent::Tools]);
    server.run().await;
    eventually("delivery", async || {
        drain(&there).contains(&ChangeEvent::Tools)
    })
    .await;
}

//! The state of a gateway for its operator: health, items, calls and failures of each server.

use std::sync::Arc;
use std::time::Duration;

use mcp::gateway::{Gateway, GatewayControl, GatewayServer, GatewayStatus};
use mcp::group::Health;
use mcp::prelude::*;

use mcp::{InProcess, IntoServer as _, Io, ServerCommand, StdioServer};
use serde_json::json;
use tokio::io::copy_bidirectional;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};

use crate::kit::{Shop, server_of};

/// Waits until the status is the wanted one.
async fn wait_for(control: &GatewayControl, wanted: impl Fn(&GatewayStatus) -> bool) {
    let reached = async {
        while !wanted(&control.status().await.unwrap()) {
            tokio::task::yield_now().await;
        }
    };
    if timeout(Duration::from_secs(10), reached).await.is_err() {
        panic!("{:#?}", control.status().await);
    }
}

#[tokio::test]
async fn status_has_health_items_and_calls_for_each_server() {
    let lost = GatewayServer::new("lost", |client| {
        client.connect(ServerCommand::new("mcp-no-such-program"))
    });
    let gateway = Gateway::new("test", "1.0.0")
        .server(server_of("shop", Shop.into_server()))
        .server(lost);
    let opened = gateway.connect().await.unwrap();
    let client = Client::connect(InProcess(opened.server)).await.unwrap();
    client
        .call("shop__add", json!({"a": 1, "b": 2}))
        .await
        .unwrap();
    client.call("shop__add", json!({"a": "one"})).await.unwrap();

    let status = opened.control.status().await.unwrap();
    let [shop, lost] = &status.servers[..] else {
        panic!("{status:?}");
    };
    assert_eq!((&*shop.name, &shop.health), ("shop", &Health::Running));
    assert_eq!(shop.tools.len(), 4);
    assert!(shop.tools.contains(&"shop__add".to_owned()));
    let calls = shop.calls;
    assert_eq!((calls.running, calls.succeeded, calls.failed), (0, 1, 1));
    assert_eq!(shop.last_failure, None);
    assert!(matches!(&lost.health, Health::Down(_)), "{:?}", lost.health);
    let failure = lost.last_failure.as_ref().unwrap();
    assert!(failure.text.contains("mcp-no-such-program"), "{failure:?}");

    // A call that never ends runs until it is dropped.
    let waiting = tokio::spawn({
        let client = client.clone();
        async move { client.call("shop__wait", ()).await }
    });
    wait_for(&opened.control, |status| {
        status.servers[0].calls.running == 1
    })
    .await;
    waiting.abort();
    wait_for(&opened.control, |status| {
        let calls = status.servers[0].calls;
        (calls.running, calls.interrupted) == (0, 1)
    })
    .await;
}

#[tokio::test]
async fn status_fails_when_the_gateway_has_ended() {
    let opened = Gateway::new("test", "1.0.0").connect().await.unwrap();
    drop(opened.server);
    assert!(opened.control.status().await.is_err());
}

/// A server on a pipe that answers nothing any more after a notification.
fn hanging(mode: ConnectMode) -> (GatewayServer, Arc<Notify>) {
    let hangs = Arc::new(Notify::new());
    let (shop, hung) = (Arc::new(Shop.into_server()), hangs.clone());
    let server = GatewayServer::new("shop", move |client| {
        let (near, mut near_end) = tokio::io::duplex(64 * 1024);
        let (mut far_end, far) = tokio::io::duplex(64 * 1024);
        let (hung, server) = (hung.clone(), StdioServer::new(shop.clone()));
        tokio::spawn(async move {
            let (reader, writer) = tokio::io::split(far);
            drop(server.run_over(reader, writer).await);
        });
        tokio::spawn(async move {
            tokio::select! {
                _ = copy_bidirectional(&mut near_end, &mut far_end) => {}
                // The pipe stays open.
                () = hung.notified() => std::future::pending().await,
            }
        });
        let (reader, writer) = tokio::io::split(near);
        client.mode(mode.clone()).connect(Io(reader, writer))
    });
    (server, hangs)
}

#[tokio::test(start_paused = true)]
async fn hanging_server_is_closed_by_health_checks_and_started_again() {
    for mode in [ConnectMode::Auto, ConnectMode::Legacy] {
        let (shop, hangs) = hanging(mode);
        let shop = shop.health_check(Duration::from_secs(30));
        let gateway = Gateway::new("test", "1.0.0").server(shop);
        let opened = gateway.connect().await.unwrap();
        let client = Client::connect(InProcess(opened.server)).await.unwrap();
        // A server that answers is left alone.
        sleep(Duration::from_secs(600)).await;
        hangs.notify_one();
        let begin = Instant::now();
        let call = client
            .call("shop__wait", ())
            .timeout(Duration::from_secs(1000));
        let error = call.await.unwrap_err().to_string();
        assert!(error.contains("the server \"shop\""), "{error}");
        let passed = begin.elapsed().as_secs();
        assert!((30..=75).contains(&passed), "{passed}");
        sleep(Duration::from_secs(60)).await;
        let added = client.call("shop__add", json!({"a": 1, "b": 2})).await;
        assert_eq!(added.unwrap().text(), "3");
        let status = opened.control.status().await.unwrap();
        assert_eq!(status.servers[0].health, Health::Running);
    }
}

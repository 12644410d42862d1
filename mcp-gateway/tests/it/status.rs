//! The state of a gateway for its operator: health, items, calls and failures of each server.

use std::time::Duration;

use mcp::gateway::{Gateway, GatewayControl, GatewayServer, GatewayStatus};
use mcp::group::Health;
use mcp::prelude::*;
use mcp::{InProcess, IntoServer as _, ServerCommand};
use serde_json::json;
use tokio::time::timeout;

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
async fn status_has_health_items_and_calls_of_each_server() {
    let lost = GatewayServer::new("lost", |client| {
        client.connect(ServerCommand::new("mcp-no-such-program"))
    });
    let gateway = Gateway::new("test", "1.0.0")
        .with_server(server_of("shop", Shop.into_server()))
        .with_server(lost);
    let opened = gateway.open().await.unwrap();
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
    wait_for(&opened.control, |it| it.servers[0].calls.running == 1).await;
    waiting.abort();
    wait_for(&opened.control, |it| {
        let calls = it.servers[0].calls;
        (calls.running, calls.interrupted) == (0, 1)
    })
    .await;
}

#[tokio::test]
async fn status_of_an_ended_gateway_is_an_error() {
    let opened = Gateway::new("test", "1.0.0").open().await.unwrap();
    drop(opened.server);
    assert!(opened.control.status().await.is_err());
}

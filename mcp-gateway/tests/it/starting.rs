//! Servers that start slowly, and servers that do not start.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use mcp::InProcess;
use mcp::client::Error;
use mcp::gateway::{Gateway, GatewayServer};
use mcp::prelude::*;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};

use crate::kit::{LogLines, server_of};

fn named(name: &'static str) -> Server {
    Server::new(name, "1.0.0").tool(Tool::new("name").handler(move || name))
}

/// A server that starts when it is notified.
fn slow(started: &Arc<Notify>) -> GatewayServer {
    let (server, started) = (Arc::new(named("slow")), started.clone());
    GatewayServer::new("slow", move |client| {
        let (server, started) = (server.clone(), started.clone());
        async move {
            started.notified().await;
            client.connect(InProcess(server)).await
        }
    })
}

async fn names(client: &Client) -> Vec<String> {
    let tools = client.list_tools().fresh().await.unwrap();
    tools.into_iter().map(|tool| tool.name).collect()
}

// All tasks run on the thread of the subscriber.
#[tokio::test(start_paused = true)]
async fn gateway_answers_at_once_and_late_servers_are_announced() {
    let lines = LogLines::default();
    let _guard = lines.record();
    let started = Arc::new(Notify::new());
    let gateway = Gateway::new("gateway", "1.0.0")
        .server(slow(&started))
        .server(server_of("good", named("good")))
        .start_limit(Duration::ZERO);
    let begin = Instant::now();
    let opened = gateway.connect().await.unwrap();
    let client = Client::connect(InProcess(opened.server)).await.unwrap();
    assert_eq!(begin.elapsed(), Duration::ZERO);
    let offered = client.server_capabilities().unwrap();
    assert_eq!(offered.tools.unwrap().list_changed, Some(true));

    assert_eq!(names(&client).await, ["good__name"]);
    let waited = begin.elapsed();
    assert!((490..=510).contains(&waited.as_millis()), "{waited:?}");
    let log = lines.text();
    let is_named = |line: &str| line.contains("still starting") && line.contains("server=slow");
    assert_eq!(
        log.lines().filter(|line| is_named(line)).count(),
        1,
        "{log}"
    );
    // The first list only.
    assert_eq!(names(&client).await, ["good__name"]);
    assert_eq!(begin.elapsed(), waited);

    let mut changes = client.changes().tools_changed().await.unwrap();
    started.notify_one();
    let change = timeout(Duration::from_secs(60), changes.next()).await;
    change.unwrap().unwrap().unwrap();
    assert_eq!(names(&client).await, ["good__name", "slow__name"]);
}

#[tokio::test(start_paused = true)]
async fn first_list_waits_for_two_seconds_at_most() {
    let gateway = Gateway::new("gateway", "1.0.0")
        .server(slow(&Arc::new(Notify::new())))
        .start_limit(Duration::ZERO);
    let opened = gateway.connect().await.unwrap();
    let client = Client::connect(InProcess(opened.server)).await.unwrap();
    let begin = Instant::now();
    assert!(names(&client).await.is_empty());
    let waited = begin.elapsed();
    assert!((1990..=2010).contains(&waited.as_millis()), "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn first_list_waits_no_longer_than_the_servers() {
    let started = Arc::new(Notify::new());
    let gateway = Gateway::new("gateway", "1.0.0")
        .server(slow(&started))
        .start_limit(Duration::ZERO);
    let opened = gateway.connect().await.unwrap();
    let client = Client::connect(InProcess(opened.server)).await.unwrap();
    let begin = Instant::now();
    let starting = async {
        sleep(Duration::from_millis(700)).await;
        started.notify_one();
    };
    // A call waits as well: its tool is not known yet.
    let (called, ()) = tokio::join!(client.call("slow__name", ()).into_future(), starting);
    assert_eq!(called.unwrap().text(), "slow");
    assert!(begin.elapsed() < Duration::from_millis(710));
}

// All tasks run on the thread of the subscriber.
#[tokio::test(start_paused = true)]
async fn broken_server_is_reported_once() {
    let lines = LogLines::default();
    let _guard = lines.record();
    let broken = GatewayServer::new("broken", |_| async { Err(Error::other("no such program")) });
    let gateway = Gateway::new("gateway", "1.0.0").server(broken);
    let _opened = gateway.connect().await.unwrap();
    sleep(Duration::from_secs(600)).await;
    let log = lines.text();
    let reports = log.lines().filter(|line| line.contains("no such program"));
    assert_eq!(reports.count(), 1, "{log}");
    assert!(
        log.contains("a server behind the gateway does not answer"),
        "{log}"
    );
}

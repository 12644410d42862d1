//! Servers that start slowly, and servers that do not start.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use mcp::InProcess;
use mcp::client::Error;
use mcp::gateway::{Gateway, GatewayServer};
use mcp::group::Naming;
use mcp::prelude::*;
use mcp::types::ProtocolVersion;
use mcp::{ConnectMode, Subscription};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};

use crate::kit::{LogLines, serve, server_of};

fn named(name: &'static str) -> Server {
    Server::new(name, "1.0.0").tool(Tool::new("name").handler(move || name))
}

/// A server that starts when it is notified.
fn slow(started: &Arc<Notify>) -> GatewayServer {
    starting("slow", named("slow"), started)
}

fn starting(name: &str, server: Server, started: &Arc<Notify>) -> GatewayServer {
    let (server, started) = (Arc::new(server), started.clone());
    GatewayServer::new(name, move |client| {
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

/// Returns true if a change arrives soon.
async fn is_notified(changes: &mut Subscription) -> bool {
    let next = timeout(Duration::from_millis(300), changes.next()).await;
    next.is_ok_and(|change| change.unwrap().is_ok())
}

#[tokio::test]
async fn first_lists_are_no_change_and_later_ones_are() {
    for front in [
        ConnectMode::Legacy,
        ConnectMode::Pin(ProtocolVersion::LATEST),
    ] {
        let (first, late) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let server = named("first").prompt(Prompt::new("greet").handler(|| "hello"));
        let gateway = Gateway::new("gateway", "1.0.0")
            .server(starting("first", server, &first))
            .server(slow(&late))
            .start_limit(Duration::ZERO);
        let url = serve(gateway.connect().await.unwrap().server).await;
        let client = Client::builder().mode(front).connect(url).await.unwrap();
        let mut tools = client.changes().tools_changed().await.unwrap();
        let mut prompts = client.changes().prompts_changed().await.unwrap();
        first.notify_one();
        assert_eq!(names(&client).await, ["first__name"]);
        assert!(!is_notified(&mut tools).await);
        late.notify_one();
        // The list that the client has seen was not complete.
        assert!(is_notified(&mut tools).await);
        assert_eq!(names(&client).await, ["first__name", "slow__name"]);
        assert!(!is_notified(&mut prompts).await, "no prompts were listed");
    }
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
    let start = async {
        sleep(Duration::from_millis(700)).await;
        started.notify_one();
    };
    // A call waits as well: its tool is not known yet.
    let (called, ()) = tokio::join!(client.call("slow__name", ()).into_future(), start);
    assert_eq!(called.unwrap().text(), "slow");
    assert!(begin.elapsed() < Duration::from_millis(710));
}

/// A server with a tool, a prompt and a resource, which starts when it is notified.
fn slow_desk(started: &Arc<Notify>, succeeds: bool) -> GatewayServer {
    let server = named("slow")
        .prompt(Prompt::new("greet").handler(|| "hello"))
        .resource(Resource::new("desk://a").read(|| "drawer"));
    let (server, started) = (Arc::new(server), started.clone());
    GatewayServer::new("slow", move |client| {
        let (server, started) = (server.clone(), started.clone());
        async move {
            started.notified().await;
            if succeeds {
                return client.connect(InProcess(server)).await;
            }
            Err(Error::other("no such program as secret-desk"))
        }
    })
}

#[tokio::test(start_paused = true)]
async fn call_waits_for_a_starting_server() {
    for naming in [Naming::Prefixed, Naming::PlainUnlessTaken] {
        let started = Arc::new(Notify::new());
        let gateway = Gateway::new("gateway", "1.0.0")
            .server(slow_desk(&started, true))
            .server(server_of("good", named("good")))
            .naming(naming)
            .start_limit(Duration::ZERO);
        let opened = gateway.connect().await.unwrap();
        let client = Client::connect(InProcess(opened.server)).await.unwrap();
        let is_plain = naming == Naming::PlainUnlessTaken;
        let prefix = if is_plain { "" } else { "slow__" };
        let tool = client.call("slow__name", ()).into_future();
        let prompt = client.get_prompt(format!("{prefix}greet"), ());
        let resource = client.read_resource("desk://a");
        let start = async {
            sleep(Duration::from_secs(30)).await;
            // Calls of other servers do not wait.
            let good = if is_plain { "name" } else { "good__name" };
            let called = timeout(Duration::from_secs(1), client.call(good, ()).into_future());
            assert_eq!(called.await.unwrap().unwrap().text(), "good");
            started.notify_one();
        };
        let (tool, prompt, resource, ()) =
            tokio::join!(tool, prompt.into_future(), resource.into_future(), start);
        assert_eq!(tool.unwrap().text(), "slow");
        assert!(prompt.is_ok(), "{prompt:?}");
        assert_eq!(resource.unwrap().text(), "drawer");
        // All servers are listed: nothing waits.
        let begin = Instant::now();
        client.call("slow__none", ()).await.unwrap_err();
        assert_eq!(begin.elapsed(), Duration::ZERO);
    }
}

#[tokio::test(start_paused = true)]
async fn call_to_a_server_that_does_not_start_says_why() {
    let started = Arc::new(Notify::new());
    let gateway = Gateway::new("gateway", "1.0.0")
        .server(slow_desk(&started, false))
        .start_limit(Duration::ZERO);
    let opened = gateway.connect().await.unwrap();
    let client = Client::connect(InProcess(opened.server)).await.unwrap();
    let start = async {
        sleep(Duration::from_secs(30)).await;
        started.notify_one();
    };
    let (called, ()) = tokio::join!(client.call("slow__name", ()).into_future(), start);
    let expected = "the server \"slow\" of this gateway did not start: it cannot be started";
    let error = called.unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
    assert!(
        !error.contains("secret-desk"),
        "only the log has details: {error}"
    );
    // It is not started again yet.
    let error = client.get_prompt("slow__greet", ()).await.unwrap_err();
    assert!(error.to_string().contains(expected), "{error}");
    // No server is known to have the resource.
    let error = client.read_resource("desk://a").await.unwrap_err();
    assert!(!error.to_string().contains("slow"), "{error}");
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

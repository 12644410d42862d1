//! Change notifications of a server to subscribed clients.

use futures_util::{FutureExt, StreamExt};
use mcp::client::Change;
use mcp::prelude::*;
use mcp_testing::connect;

/// Upper bound of every wait; reached only if a test fails.
const LIMIT: std::time::Duration = std::time::Duration::from_secs(20);

fn tool(name: &str) -> mcp::ToolRoute {
    Tool::new(name).handler(|| "called")
}

#[tokio::test]
async fn client_receives_subscribed_changes_only() {
    let server = Server::new("s", "1")
        .tool(tool("a"))
        .resource(Resource::new("a://b").read(|| "b"));
    let (tools, notify) = (server.tools(), server.notify());
    let client = connect(server).await.unwrap();
    let mut changes = client
        .subscribe(["a://b", "a://logs/"])
        .tools_changed()
        .await
        .unwrap();
    assert!(changes.refused().is_empty());

    assert!(changes.next().now_or_never().is_none());
    tools.extend(["b", "c"].map(tool)).unwrap();
    tools.disable("a");
    assert_eq!(changes.next().await.unwrap().unwrap(), Change::Tools);
    assert!(
        changes.next().now_or_never().is_none(),
        "two changes are combined"
    );
    let names: Vec<_> = client
        .list_tools()
        .await
        .unwrap()
        .into_iter()
        .map(|tool| tool.name)
        .collect();
    assert_eq!(names, ["b", "c"]);
    assert!(client.call("a", ()).await.is_err());
    assert_eq!(client.call("c", ()).await.unwrap().text(), "called");

    notify.resource_updated("a://b");
    notify.resource_updated("a://other");
    notify.resource_updated("a://logs/today");
    for uri in ["a://b", "a://logs/today"] {
        let uri = uri.to_owned();
        assert_eq!(
            changes.next().await.unwrap().unwrap(),
            Change::Resource { uri }
        );
    }
    assert!(changes.next().now_or_never().is_none());
}

#[tokio::test]
async fn subscription_to_missing_feature_is_not_granted() {
    let server = Server::new("s", "1").tool(tool("a")).max_subscriptions(1);
    let client = connect(server).await.unwrap();
    let changes = client.subscribe(["a://b"]).tools_changed().await.unwrap();
    assert!(changes.granted().is_empty());
    // It has no place among the subscriptions.
    client.changes().tools_changed().await.unwrap();
}

#[tokio::test]
async fn subscription_beyond_the_limit_is_refused_until_another_ends() {
    let server = Server::new("s", "1").tool(tool("a")).max_subscriptions(1);
    let _tools = server.tools();
    let client = connect(server).await.unwrap();
    let changes = client.changes().tools_changed().await.unwrap();
    let refused = client
        .changes()
        .tools_changed()
        .await
        .unwrap_err()
        .to_string();
    assert!(refused.contains("1 subscriptions already"), "{refused}");
    drop(changes);
    client.changes().tools_changed().await.unwrap();
}

#[tokio::test]
async fn pages_skip_nothing_while_list_changes() {
    let tools = (0..10).map(|n| tool(&format!("t{n}")));
    let server = Server::new("s", "1").page_size(3).merge(tools.collect());
    let handle = server.tools();
    let client = connect(server).await.unwrap();
    let mut listed = std::pin::pin!(client.list_tools().stream());
    let mut seen = Vec::new();
    while let Some(tool) = listed.next().await {
        let name = tool.unwrap().name;
        if name == "t4" {
            for removed in ["t0", "t1", "t2", "t3"] {
                handle.remove(removed).unwrap();
            }
            handle.add(self::tool("late")).unwrap();
        }
        seen.push(name);
    }
    let all: Vec<_> = (0..10)
        .map(|n| format!("t{n}"))
        .chain(["late".to_owned()])
        .collect();
    assert_eq!(seen, all);
}

#[tokio::test]
async fn change_reaches_clients_in_both_eras() {
    let server = Server::new("s", "1")
        .tool(tool("a"))
        .resource(Resource::new("a://b").read(|| "b"));
    let (tools, notify) = (server.tools(), server.notify());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let serving = tokio::spawn(mcp::serve_http(server, listener));
    let mut streams = Vec::new();
    for mode in [
        ConnectMode::Pin(ProtocolVersion::LATEST),
        ConnectMode::Legacy,
    ] {
        let client = Client::builder().mode(mode).connect(&url).await.unwrap();
        let changes = client.subscribe(["a://b"]).tools_changed().await.unwrap();
        assert!(changes.refused().is_empty());
        streams.push(changes);
    }
    tools.add(tool("b")).unwrap();
    notify.resource_updated("a://b");
    let updated = Change::Resource {
        uri: "a://b".to_owned(),
    };
    for changes in &mut streams {
        for expected in [Change::Tools, updated.clone()] {
            let change = tokio::time::timeout(LIMIT, changes.next()).await;
            assert_eq!(change.unwrap().unwrap().unwrap(), expected);
        }
    }
    serving.abort();
}

#[tokio::test]
async fn resource_can_be_resubscribed_right_after_unsubscribe() {
    let server = Server::new("s", "1").resource(Resource::new("a://b").read(|| "b"));
    let notify = server.notify();
    let mut subscribed = server.subscribed_resources();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let serving = tokio::spawn(mcp::serve_http(server, listener));
    let client = Client::builder().mode(ConnectMode::Legacy);
    let client = client.connect(&url).await.unwrap();
    drop(client.subscribe(["a://b"]).await.unwrap());
    let mut changes = client.subscribe(["a://b"]).await.unwrap();
    for _ in 0..10 {
        client.ping().await.unwrap();
    }
    assert_eq!(subscribed.uris().len(), 1);
    notify.resource_updated("a://b");
    let change = tokio::time::timeout(LIMIT, changes.next()).await;
    assert!(matches!(change, Ok(Some(Ok(Change::Resource { .. })))));
    drop(changes);
    let ended = async {
        while !subscribed.uris().is_empty() {
            subscribed.changed().await;
        }
    };
    tokio::time::timeout(LIMIT, ended).await.unwrap();
    serving.abort();
}

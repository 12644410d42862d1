//! Two gateways that share a Redis server, behind a proxy that sends each request to the next one.

use std::path::Path;
use std::time::Duration;

use conformance::cluster::{Node, Proxy, RedisServer};
use futures_util::StreamExt as _;
use mcp::prelude::*;
use mcp::{ConnectMode, ElicitRequest};
use serde_json::json;
use tokio::time::timeout;

/// Longer than every operation here, so that a hang fails the test.
const LIMIT: Duration = Duration::from_secs(60);

/// A server, and two gateways in front of it that call it in one era.
struct Gateways {
    server: Node,
    gateways: Vec<Node>,
    /// The URL of the proxy.
    url: String,
}

impl Gateways {
    async fn start(redis: &RedisServer, mode: &str) -> Self {
        let program = Path::new(env!("CARGO_BIN_EXE_everything-server"));
        let server = Node::start(program, None).await.unwrap();
        let url = format!("http://{}/mcp", server.address());
        let program = Path::new(env!("CARGO_BIN_EXE_everything-gateway"));
        let mut gateways = Vec::new();
        for _ in 0..2 {
            let arguments = ["--redis", &redis.url(), mode, &url];
            gateways.push(Node::start_with(program, &arguments).await.unwrap());
        }
        let addresses = gateways
            .iter()
            .map(|gateway| gateway.address().to_owned())
            .collect();
        let (_, url) = Proxy::start(addresses, true).await.unwrap();
        Self {
            server,
            gateways,
            url,
        }
    }

    async fn client(&self, mode: ConnectMode) -> Client {
        let builder = Client::builder().mode(mode);
        let builder = builder.on_elicit(|form: ElicitRequest| async move {
            form.accept(json!({ "username": "ada", "email": "ada@example.com" }))
        });
        let connecting = builder.connect(&*self.url);
        timeout(LIMIT, connecting).await.unwrap().unwrap()
    }
}

async fn ask(client: &Client) -> String {
    let call = client.call("test_elicitation", json!({ "message": "Who?" }));
    timeout(LIMIT, call).await.unwrap().unwrap().text()
}

#[tokio::test]
async fn gateway_continues_sessions_and_calls_from_another() {
    let Some(redis) = RedisServer::start().await.unwrap() else {
        eprintln!("skipped: redis-server is not installed");
        return;
    };
    // The answer of a modern client cannot reach a call of a legacy server that waits at the other gateway.
    let both = vec![ConnectMode::Legacy, ConnectMode::Auto];
    for (mode, fronts) in [("modern", both), ("legacy", vec![ConnectMode::Legacy])] {
        let mut running = Gateways::start(&redis, mode).await;
        let mut clients = Vec::new();
        for front in fronts {
            clients.push(running.client(front).await);
        }
        // Each message of a call reaches another gateway than the one before.
        for client in clients.iter().cycle().take(6) {
            let text = ask(client).await;
            assert!(text.contains("accept"), "{mode}: {text}");
        }
        // A session goes on without the gateway where it began.
        running.gateways.remove(0).kill().await.unwrap();
        for client in clients.iter().cycle().take(6) {
            let text = ask(client).await;
            assert!(text.contains("accept"), "{mode}: {text}");
        }
        drop(running.server);
    }
}

#[tokio::test]
async fn server_changes_reach_clients_at_all_gateways() {
    let Some(redis) = RedisServer::start().await.unwrap() else {
        eprintln!("skipped: redis-server is not installed");
        return;
    };
    let running = Gateways::start(&redis, "auto").await;
    for front in [ConnectMode::Legacy, ConnectMode::Auto] {
        let client = running.client(front).await;
        let mut changes = client.changes().tools_changed().await.unwrap();
        for _ in 0..2 {
            client.call("test_trigger_tool_change", ()).await.unwrap();
            let change = timeout(LIMIT, changes.next()).await.unwrap();
            assert!(matches!(change, Some(Ok(_))), "{change:?}");
        }
    }
}

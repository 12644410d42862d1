//! Output schemas and results of Rust return types, as a client of each revision receives them. The
//! `jsonschema` crate compares them.

mod check;
mod tools;

use std::collections::BTreeMap;
use std::time::Duration;

use mcp::ConnectMode;
use mcp::client::ClientBuilder;
use mcp::gateway::{ConnectedGateway, Gateway, GatewayServer};
use mcp::http::StreamableHttp;
use mcp::prelude::*;
use mcp::tasks::{TaskMode, Tasks};
use mcp::types::ProtocolVersion;
use mcp_testing::Pair;

use self::check::check;
use self::tools::{raw_tools, tools};
use crate::kit::TestServer;

/// All tools, and the number of values by name.
fn server() -> (Server, BTreeMap<String, usize>) {
    server_with(TaskMode::Never)
}

fn server_with(mode: TaskMode) -> (Server, BTreeMap<String, usize>) {
    let mut server = Server::new("s", "1");
    let mut counts = BTreeMap::new();
    for (route, count) in tools().into_iter().chain(raw_tools()) {
        counts.insert(route.tool().name.clone(), count);
        server = server.tool(route.task(mode));
    }
    if mode != TaskMode::Never {
        let tasks = Tasks::in_memory().poll_interval(Duration::from_millis(1));
        server = server.tasks(tasks);
    }
    (server, counts)
}

// spec: TOOL-14, TOOL-16, TOOL-18
#[tokio::test]
async fn published_schema_accepts_each_returned_value_in_each_revision() {
    assert!(tools().len() >= 30);
    for version in ProtocolVersion::ALL {
        let (server, counts) = server();
        let pair = Pair::stdio(server)
            .revision(version)
            .connect()
            .await
            .unwrap();
        check(&pair.client, &counts, version).await;
    }
}

/// The gateway lists definitions of a server that has another revision than its client.
// spec: TOOL-14, TOOL-16, TOOL-18
#[tokio::test]
async fn published_schema_accepts_each_value_behind_a_gateway() {
    use ProtocolVersion::{V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};
    for (back, front) in [
        (V2026_07_28, V2025_11_25),
        (V2026_07_28, V2025_06_18),
        (V2026_07_28, V2025_03_26),
        (V2025_11_25, V2026_07_28),
        (V2025_11_25, V2025_06_18),
    ] {
        let (server, counts) = server();
        check_gateway(server, back, front, &counts).await;
    }
}

async fn check_gateway(
    server: Server,
    back: ProtocolVersion,
    front: ProtocolVersion,
    counts: &BTreeMap<String, usize>,
) {
    let upstream = TestServer::start(StreamableHttp::new(server)).await;
    let url = upstream.url().to_owned();
    let server = GatewayServer::new("s", move |client: ClientBuilder| {
        client.mode(ConnectMode::Pin(back)).connect(url.clone())
    });
    let gateway = Gateway::new("gateway", "1").server(server);
    let ConnectedGateway {
        server,
        group: _group,
        ..
    } = gateway.connect().await.unwrap();
    let pair = Pair::http(server).revision(front).connect().await.unwrap();
    check(&pair.client, counts, front).await;
}

/// Tasks keep the result of the newest revision. A gateway waits for them on behalf of older clients.
// spec: TOOL-14, TOOL-18, TASK-08
#[tokio::test]
async fn published_schema_accepts_each_result_from_a_task() {
    use ProtocolVersion::{V2025_06_18, V2025_11_25, V2026_07_28};
    // A client without tasks could not call these tools.
    let (server, counts) = server_with(TaskMode::Required);
    let client = Client::builder().tasks();
    let pair = Pair::http(server).client(client).connect().await.unwrap();
    check(&pair.client, &counts, V2026_07_28).await;
    for front in [V2025_11_25, V2025_06_18] {
        let (server, counts) = server_with(TaskMode::Required);
        check_gateway(server, V2026_07_28, front, &counts).await;
    }
}

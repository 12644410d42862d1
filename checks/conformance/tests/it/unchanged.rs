//! A gateway changes nothing of what it passes on: each member of each item and of some results, directly and behind
//! `mcp serve` (one server, whose items keep their names) and `mcp gateway` (names with the server's prefix).

use std::path::Path;

use conformance::cluster::Node;
use mcp::ConnectMode;
use mcp::gateway::{Gateway, GatewayServer};
use mcp::group::{Group, Naming};
use mcp::http::Serve;
use mcp::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// Connects to a gateway in front of the server.
async fn behind(naming: Naming, mode: &ConnectMode, url: &str) -> (Client, Group) {
    let (mode, url) = (mode.clone(), url.to_owned());
    let back = mode.clone();
    let server = GatewayServer::new("server", move |client| {
        client.mode(back.clone()).connect(url.clone())
    });
    // No name is cut, so that no tool has its name as a title.
    let gateway = Gateway::new("gateway", "1.0.0")
        .naming(naming)
        .max_tool_name(64);
    let opened = gateway.server(server).connect().await.unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(Serve::new(opened.server).run(listener));
    let client = Client::builder().mode(mode).connect(url).await.unwrap();
    (client, opened.group)
}

/// Returns the items by name or URI, without the prefix of the gateway.
fn items<T: Serialize>(list: Vec<T>, key: &str) -> Vec<Value> {
    let items = list.into_iter().map(|item| {
        let mut item = serde_json::to_value(item).unwrap();
        let name = item[key].as_str().unwrap();
        item[key] = name.trim_start_matches("server__").into();
        item
    });
    let mut items: Vec<_> = items.collect();
    items.sort_by_key(|item| item[key].as_str().unwrap().to_owned());
    items
}

async fn lists(client: &Client) -> [(&'static str, Vec<Value>); 4] {
    [
        ("tools", items(client.list_tools().await.unwrap(), "name")),
        (
            "prompts",
            items(client.list_prompts().await.unwrap(), "name"),
        ),
        (
            "resources",
            items(client.list_resources().await.unwrap(), "uri"),
        ),
        (
            "templates",
            items(
                client.list_resource_templates().await.unwrap(),
                "uriTemplate",
            ),
        ),
    ]
}

/// Returns results, without the identity of the server.
async fn results(client: &Client, prefix: &str) -> Vec<Value> {
    let mut results = Vec::new();
    for tool in [
        "test_simple_text",
        "test_image_content",
        "test_audio_content",
        "test_embedded_resource",
        "test_multiple_content_types",
        "test_error_handling",
    ] {
        let called = client.call(format!("{prefix}{tool}"), ()).await.unwrap();
        results.push(serde_json::to_value(called).unwrap());
    }
    let prompt = client.get_prompt(format!("{prefix}test_simple_prompt"), ());
    results.push(serde_json::to_value(prompt.await.unwrap()).unwrap());
    for uri in ["test://static-text", "test://static-binary"] {
        let read = client.read_resource(uri).await.unwrap();
        results.push(serde_json::to_value(read).unwrap());
    }
    for result in &mut results {
        if let Some(meta) = result["_meta"].as_object_mut() {
            meta.remove("io.modelcontextprotocol/serverInfo");
        }
        // The gateway decides for each caller who may share a result.
        let members = result.as_object_mut().unwrap();
        members.retain(|name, value| {
            !["ttlMs", "cacheScope"].contains(&&**name) && *value != json!({}) && !value.is_null()
        });
    }
    results
}

#[tokio::test]
async fn items_and_results_are_equal_but_for_names() {
    let program = Path::new(env!("CARGO_BIN_EXE_everything-server"));
    let node = Node::start(program, None).await.unwrap();
    let url = format!("http://{}/mcp", node.address());
    for mode in [ConnectMode::Legacy, ConnectMode::Auto] {
        let direct = Client::builder()
            .mode(mode.clone())
            .connect(&*url)
            .await
            .unwrap();
        let (expected, called) = (lists(&direct).await, results(&direct, "").await);
        assert!(expected.iter().all(|(_, items)| !items.is_empty()));
        for (naming, prefix) in [
            (Naming::PlainUnlessTaken, ""),
            (Naming::Prefixed, "server__"),
        ] {
            let (client, _group) = behind(naming, &mode, &url).await;
            for ((kind, expected), (_, items)) in expected.iter().zip(lists(&client).await) {
                assert_eq!(items.len(), expected.len(), "{mode:?}, {naming:?}: {kind}");
                for (item, expected) in items.iter().zip(expected) {
                    assert_eq!(item, expected, "{mode:?}, {naming:?}: {kind}");
                }
            }
            let results = results(&client, prefix).await;
            for (result, expected) in results.iter().zip(&called) {
                assert_eq!(result, expected, "{mode:?}, {naming:?}");
            }
        }
    }
}

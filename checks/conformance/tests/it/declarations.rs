//! Settings of extensions, as both sides receive them.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use conformance::cluster::Node;
use mcp::ConnectMode;
use mcp::prelude::*;
use serde_json::{Value, json};
use tokio::process::Command;
use tokio::time::timeout;

const LIMIT: Duration = Duration::from_secs(60);

/// Runs the scenario against `url` and returns what the client prints.
async fn run(url: &str, revision: &str) -> Value {
    let client = Command::new(env!("CARGO_BIN_EXE_everything-client"))
        .arg(url)
        .env("MCP_CONFORMANCE_SCENARIO", "legacy-extensions")
        .env("MCP_CONFORMANCE_PROTOCOL_VERSION", revision)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = timeout(LIMIT, client).await.unwrap().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{revision}: {errors}");
    let text = String::from_utf8(output.stdout).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[tokio::test]
async fn client_settings_reach_handlers_in_both_eras() {
    let program = Path::new(env!("CARGO_BIN_EXE_everything-server"));
    let server = Node::start_with(program, &["--legacy-extensions"])
        .await
        .unwrap();
    let url = format!("http://{}/mcp", server.address());
    for revision in ["2025-11-25", "2026-07-28"] {
        let expected = json!({
            "io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]},
            "com.example/conformance": {
                "nested": {"enabled": false, "limit": 0}, "values": ["a", 2, null],
            },
            "com.example/empty": {},
        });
        let found = run(&url, revision).await;
        assert_eq!(found, json!({"extensions": expected}), "{revision}");
    }
}

#[tokio::test]
async fn server_settings_reach_clients_in_both_eras() {
    let program = Path::new(env!("CARGO_BIN_EXE_everything-server"));
    let server = Node::start_with(program, &["--legacy-extensions"])
        .await
        .unwrap();
    let url = format!("http://{}/mcp", server.address());
    for mode in [ConnectMode::Legacy, ConnectMode::Auto] {
        let client = Client::builder()
            .mode(mode.clone())
            .connect(&*url)
            .await
            .unwrap();
        if client.server_capabilities().is_none() {
            client.discover().await.unwrap();
        }
        let capabilities = client.server_capabilities().unwrap();
        let extensions = serde_json::to_value(capabilities.extensions).unwrap();
        for (id, settings) in [
            ("io.modelcontextprotocol/ui", json!({})),
            (
                "com.example/conformance",
                json!({"nested": {"enabled": true, "limit": 3}, "values": [null, "b", 4]}),
            ),
            ("com.example/empty", json!({})),
        ] {
            assert_eq!(extensions[id], settings, "{mode:?}: {id}");
        }
    }
}

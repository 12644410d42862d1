//! Servers as child processes: approval of their commands, and processes that a probe spoils.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp::Group;
use mcp::group::{GroupConfig, PendingCommand, Variables};
use mcp::prelude::*;
use mcp::stdio::ServerCommand;
use serde_json::json;
use tokio::time::timeout;

/// Longer than every operation here, so that a hang fails the test.
const LIMIT: Duration = Duration::from_secs(60);

/// A server in the shell that knows `initialize` and `tools/list`, and exits at other requests.
const LEGACY_SERVER: &str = r#"
    touch "$1"
    while read -r line; do
        id=$(printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
        case "$line" in
            *'"initialize"'*) result='{"protocolVersion":"2025-03-26","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"1"}}' ;;
            *'"tools/list"'*) result='{"tools":[]}' ;;
            *'"id"'*) echo "unknown request" >&2; exit 1 ;;
            *) continue ;;
        esac
        echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$result}"
    done
"#;

/// A path that no other test uses.
fn marker(name: &str) -> PathBuf {
    let file = format!("mcp-children-{name}-{}", std::process::id());
    std::env::temp_dir().join(file)
}

fn group(
    marker: &PathBuf,
    approves: impl Fn(PendingCommand) -> bool + Send + Sync + 'static,
) -> Group {
    let args = json!(["-c", LEGACY_SERVER, "server", marker]);
    let file = json!({"mcpServers": {"old": {"command": "sh", "args": args}}});
    let config = GroupConfig::parse(&file.to_string(), &Variables::new()).unwrap();
    let config = config.approve(move |command| {
        let approves = approves(command);
        async move { approves }
    });
    Group::builder().config(config, Client::builder()).build()
}

#[tokio::test]
async fn command_from_a_file_runs_only_after_approval() {
    let marker = marker("approval");
    let refused = group(&marker, |_| false);
    let list = timeout(LIMIT, refused.list_tools()).await.unwrap();
    let error = list.failures[0].1.to_string();
    assert!(error.contains("the command is not approved"), "{error}");
    assert!(!marker.exists());

    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let approved = group(&marker, move |command| {
        count.fetch_add(1, Ordering::SeqCst);
        &*command.server == "old" && command.command == "sh" && command.args.len() == 4
    });
    let list = timeout(LIMIT, approved.list_tools()).await.unwrap();
    assert!(list.failures.is_empty(), "{:?}", list.failures);
    assert!(marker.exists());
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    approved.close().await;
    std::fs::remove_file(marker).unwrap();
}

#[tokio::test]
async fn child_that_exits_at_discover_is_started_again() {
    let marker = marker("restart");
    let command = ServerCommand::new("sh").args(["-c", LEGACY_SERVER, "server"]);
    let client = Client::connect(command.arg(&marker));
    let client = timeout(LIMIT, client).await.unwrap().unwrap();
    assert!(client.list_tools().await.unwrap().is_empty());
    assert_eq!(client.negotiation().tried.len(), 2);
    client.close().await.unwrap();
    std::fs::remove_file(marker).unwrap();
}

#[tokio::test]
async fn child_that_dies_at_its_start_is_reported_with_its_last_lines_once() {
    let dies = "echo 'API_KEY is missing' >&2; exit 7";
    let command = ServerCommand::new("sh").args(["-c", dies]);
    let error = timeout(LIMIT, Client::connect(command)).await.unwrap();
    let error = error.unwrap_err().to_string();
    for part in [
        "before its first response, the server has ended",
        "exit status: 7",
    ] {
        assert!(error.contains(part), "{error}");
    }
    assert_eq!(error.matches("API_KEY is missing").count(), 1, "{error}");
}

//! Groups with child processes and an HTTP server.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use mcp::Group;
use mcp::group::{GroupConfig, GroupEvent, Health};
use mcp::prelude::*;
use serde_json::{Value, json};
use tokio::process::Command;
use tokio::time::{sleep, timeout};

use crate::{LIMIT, axum_server, output};

const WORKER: &str = env!("CARGO_BIN_EXE_group");

/// A temporary directory, removed on drop.
struct TempDir(PathBuf);

impl TempDir {
    fn new(name: &str) -> Self {
        let directory = std::env::temp_dir().join(format!("mcp-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        Self(directory.canonicalize().unwrap())
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn config(directory: &TempDir, servers: &Value) -> PathBuf {
    directory.write("mcp.json", &json!({ "mcpServers": servers }).to_string())
}

async fn call(group: &Group, tool: &str, args: Value) -> String {
    let result = timeout(LIMIT, group.call(tool, args)).await.unwrap();
    result.unwrap().text()
}

#[tokio::test]
async fn example_lists_servers_and_calls_tool() {
    let text = output(&mut Command::new(WORKER)).await;
    for part in [
        "kitchen__variable: Return an environment variable",
        "attic__directory: ",
        "kitchen: running\n",
        "cellar: it is disabled in the configuration file\n",
        "attic__variable: upstairs\n",
    ] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}

#[tokio::test]
async fn group_calls_processes_and_http_server() {
    let (_server, url) = axum_server().await;
    let directory = TempDir::new("group");
    directory.write("files.env", "FROM_FILE=1\nBOTH=file\n");
    let path = config(
        &directory,
        &json!({
            "files": {
                "command": WORKER, "args": ["serve"], "cwd": "${workspaceFolder}",
                "env": {"GIVEN": "${workspaceFolderBasename}", "BOTH": "entry"},
                "envFile": "${workspaceFolder}/files.env",
            },
            "mail": {"command": WORKER, "args": ["serve"]},
            "far": {"url": url, "headers": {"x-tenant": "${TENANT:-acme}"}},
            "off": {"command": WORKER, "disabled": true},
            "wrong": {"args": []},
            "gone": {"command": "no-such-program"},
        }),
    );
    let group = Group::load(&path).unwrap();
    let health: Vec<_> = group
        .health()
        .into_iter()
        .map(|(_, health)| health)
        .collect();
    assert!(health[..3].iter().all(|health| *health == Health::Idle));
    assert!(
        health[3..5]
            .iter()
            .all(|health| matches!(health, Health::Unused(_)))
    );

    let tools = group.list_tools().await;
    let names: Vec<_> = tools.items.iter().map(|tool| tool.name.as_str()).collect();
    for name in ["files__variable", "mail__variable", "far__greet"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let [(server, error)] = &tools.failures[..] else {
        panic!("{:?}", tools.failures)
    };
    assert_eq!(&**server, "gone");
    assert!(error.to_string().contains("no-such-program"), "{error}");

    let greeting = call(&group, "far__greet", json!({"name": "Ada"})).await;
    assert!(greeting.ends_with("tenant acme"), "{greeting}");
    let base = directory.0.file_name().unwrap().to_str().unwrap();
    for (tool, name, value) in [
        ("files__variable", "GIVEN", base),
        ("files__variable", "FROM_FILE", "1"),
        ("files__variable", "BOTH", "entry"),
        ("mail__variable", "GIVEN", "GIVEN is not set"),
        // This variable is set in the test process and is not inherited.
        (
            "mail__variable",
            "CARGO_PKG_NAME",
            "CARGO_PKG_NAME is not set",
        ),
    ] {
        assert_eq!(call(&group, tool, json!({ "name": name })).await, value);
    }
    let cwd = call(&group, "files__directory", json!({})).await;
    assert_eq!(Path::new(&cwd), directory.0);
    group.close().await;
    let error = group.client("files").await.unwrap_err();
    assert!(error.is_closed(), "{error}");
}

#[tokio::test]
async fn exited_process_is_restarted_after_delay() {
    let directory = TempDir::new("restart");
    let worker = json!({"command": WORKER, "args": ["serve"]});
    let path = config(&directory, &json!({"one": worker, "two": worker}));
    let group = Group::load(&path).unwrap();
    let mut events = group.events();
    assert_eq!(group.list_tools().await.failures.len(), 0);

    let error = group.call("one__crash", json!({})).await.unwrap_err();
    assert!(error.is_closed() && error.may_have_run(), "{error}");
    let text = error.to_string();
    assert!(text.starts_with("tools/call \"crash\" at one: "), "{text}");
    // The restart is delayed by one second of real time, because the server is a process. The other
    // server is not affected.
    let error = group.client("one").await.unwrap_err();
    assert!(error.is_retryable(), "{error}");
    assert!(
        error
            .to_string()
            .starts_with("one: the server is not started again for ")
    );
    call(&group, "two__directory", json!({})).await;
    let start = Instant::now();
    while group.client("one").await.is_err() {
        assert!(start.elapsed() < LIMIT, "the server is not restarted");
        sleep(Duration::from_millis(50)).await;
    }
    call(&group, "one__directory", json!({})).await;

    let mut states = Vec::new();
    while states.len() < 3 {
        let event = timeout(LIMIT, events.next()).await.unwrap().unwrap();
        if let GroupEvent::Health { server, health, .. } = event
            && &*server == "one"
        {
            states.push(health);
        }
    }
    assert_eq!(
        (&states[0], &states[2]),
        (&Health::Running, &Health::Running)
    );
    assert!(matches!(&states[1], Health::Down(_)), "{states:?}");
    group.close().await;
}

#[cfg(unix)]
#[tokio::test]
async fn silent_process_is_timeout_with_its_stderr() {
    let directory = TempDir::new("silent");
    let script = "echo 'no licence' >&2; exec sleep 100";
    let path = config(
        &directory,
        &json!({"silent": {"command": "sh", "args": ["-c", script]}}),
    );
    let client = Client::builder()
        .timeout(Duration::from_millis(500))
        .probe_timeout(Duration::from_millis(500));
    let config = GroupConfig::read(&path).unwrap();
    let group = Group::builder()
        .config(config.clone(), client.clone())
        .build();
    let error = timeout(LIMIT, group.client("silent"))
        .await
        .unwrap()
        .unwrap_err();
    let text = error.to_string();
    assert!(error.is_timeout(), "{text}");
    assert!(
        text.starts_with("silent: the server could not be started: "),
        "{text}"
    );
    assert!(
        text.ends_with("; its standard error ends with:\n  no licence"),
        "{text}"
    );

    // Custom connect functions return the same error.
    let spec = config.servers[0].spec.clone().unwrap();
    let connect = move || client.clone().connect(spec.clone());
    let group = Group::builder().server("silent", connect).build();
    let error = group.client("silent").await.unwrap_err();
    assert!(error.is_timeout() && !error.is_closed(), "{error}");
    drop(directory);
}

//! Groups of real servers: programs that are started, and one over HTTP.

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

/// A folder that is there as long as this is.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("mcp-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder.canonicalize().unwrap())
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn config(folder: &Folder, servers: &Value) -> PathBuf {
    folder.write("mcp.json", &json!({ "mcpServers": servers }).to_string())
}

async fn call(group: &Group, tool: &str, args: Value) -> String {
    let result = timeout(LIMIT, group.call(tool, args)).await.unwrap();
    result.unwrap().text()
}

#[tokio::test]
async fn the_example() {
    let text = output(&mut Command::new(WORKER)).await;
    for part in [
        "kitchen__variable: Tell a variable",
        "attic__folder: ",
        "kitchen runs\n",
        "cellar: the file has it switched off\n",
        "attic__variable: upstairs\n",
    ] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}

#[tokio::test]
async fn programs_and_a_url() {
    let (_server, url) = axum_server().await;
    let folder = Folder::new("group");
    folder.write("files.env", "FROM_FILE=1\nBOTH=file\n");
    let path = config(
        &folder,
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
    assert!(greeting.ends_with("on behalf of acme"), "{greeting}");
    let base = folder.0.file_name().unwrap().to_str().unwrap();
    for (tool, name, value) in [
        ("files__variable", "GIVEN", base),
        ("files__variable", "FROM_FILE", "1"),
        ("files__variable", "BOTH", "entry"),
        ("mail__variable", "GIVEN", "there is no GIVEN"),
        // This process has it.
        (
            "mail__variable",
            "CARGO_PKG_NAME",
            "there is no CARGO_PKG_NAME",
        ),
    ] {
        assert_eq!(call(&group, tool, json!({ "name": name })).await, value);
    }
    let cwd = call(&group, "files__folder", json!({})).await;
    assert_eq!(Path::new(&cwd), folder.0);
    group.close().await;
    let error = group.client("files").await.unwrap_err();
    assert!(error.is_closed(), "{error}");
}

#[tokio::test]
async fn a_program_that_ends_is_started_again() {
    let folder = Folder::new("restart");
    let worker = json!({"command": WORKER, "args": ["serve"]});
    let path = config(&folder, &json!({"one": worker, "two": worker}));
    let group = Group::load(&path).unwrap();
    let mut events = group.events();
    assert_eq!(group.list_tools().await.failures.len(), 0);

    let error = group.call("one__crash", json!({})).await.unwrap_err();
    assert!(error.is_closed() && error.may_have_run(), "{error}");
    let text = error.to_string();
    assert!(text.starts_with("tools/call \"crash\" at one: "), "{text}");
    // It rests for a second, and the other one does not notice.
    let error = group.client("one").await.unwrap_err();
    assert!(error.is_retryable(), "{error}");
    assert!(
        error
            .to_string()
            .starts_with("one: the server is left alone")
    );
    call(&group, "two__folder", json!({})).await;
    let begin = Instant::now();
    while group.client("one").await.is_err() {
        assert!(begin.elapsed() < LIMIT, "it is not started again");
        sleep(Duration::from_millis(50)).await;
    }
    call(&group, "one__folder", json!({})).await;

    let mut told = Vec::new();
    while told.len() < 3 {
        let event = timeout(LIMIT, events.next()).await.unwrap().unwrap();
        if let GroupEvent::Health { server, health, .. } = event
            && &*server == "one"
        {
            told.push(health);
        }
    }
    assert_eq!((&told[0], &told[2]), (&Health::Running, &Health::Running));
    assert!(matches!(&told[1], Health::Down(_)), "{told:?}");
    group.close().await;
}

#[cfg(unix)]
#[tokio::test]
async fn a_program_that_says_nothing_is_a_timeout() {
    let folder = Folder::new("silent");
    let script = "echo 'no licence' >&2; exec sleep 100";
    let path = config(
        &folder,
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
    assert!(text.ends_with("; the server says:\nno licence"), "{text}");

    // So it is for functions that connect by themselves.
    let spec = config.servers[0].spec.clone().unwrap();
    let connect = move || client.clone().connect(spec.clone());
    let group = Group::builder().server("silent", connect).build();
    let error = mcp::Error::from(group.client("silent").await.unwrap_err());
    assert!(error.is_timeout() && !error.is_closed(), "{error}");
    drop(folder);
}

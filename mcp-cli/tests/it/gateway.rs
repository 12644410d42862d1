//! `mcp serve` and `mcp gateway`.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use mcp::ConnectMode;
use mcp::prelude::*;
use mcp::types::{ElicitResult, ProtocolVersion};
use serde_json::json;

use crate::kit::{folder, http_shop, mcp, stdio_shop};

/// A running command. It is killed when this is dropped.
struct Served {
    child: Child,
    url: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts a command, and waits for its address.
fn start(words: &[&str]) -> Served {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mcp"))
        .args(words)
        .env("HOME", folder("gateway_home"))
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut lines = lines.map_while(Result::ok);
    let url = lines.find_map(|line| Some(line.strip_prefix("listening on ")?.to_owned()));
    let url = url.unwrap();
    // The pipe is read until its end, so that the command never waits.
    std::thread::spawn(move || lines.for_each(drop));
    Served { child, url }
}

fn config(name: &str) -> PathBuf {
    let file = folder("gateway_files").join(format!("{name}.json"));
    let servers = json!({
        "near": {"command": stdio_shop()},
        "far": {"url": http_shop()},
        "off": {"command": "nothing", "disabled": true},
    });
    std::fs::write(&file, json!({"mcpServers": servers}).to_string()).unwrap();
    file
}

fn modes() -> [ConnectMode; 2] {
    [
        ConnectMode::Legacy,
        ConnectMode::Pin(ProtocolVersion::LATEST),
    ]
}

fn client(mode: ConnectMode) -> mcp::ClientBuilder {
    Client::builder().mode(mode).on_elicit(async |_| {
        ElicitResult::accept([("count".to_owned(), json!(3))].into_iter().collect())
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn program_is_served_over_http_for_both_eras() {
    for flags in [&[][..], &["--one-process"]] {
        let program = stdio_shop();
        let words = [
            &["serve", "--listen", "127.0.0.1:0"],
            flags,
            &["--", &*program],
        ]
        .concat();
        let served = start(&words);
        for mode in modes() {
            let client = client(mode).connect(&*served.url).await.unwrap();
            let sum = client.call("add", json!({"a": 1, "b": 2})).await.unwrap();
            assert_eq!(sum.text(), "3");
            let order = client.call("order", ()).await.unwrap();
            assert_eq!(order.text(), "3 items");
            client.close().await.unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_of_a_file_are_one_server() {
    let file = config("http");
    let file = file.to_str().unwrap();
    let words = [
        "gateway",
        file,
        "--listen",
        "127.0.0.1:0",
        "--hide-tool",
        "far__f*",
    ];
    let served = start(&words);
    for mode in modes() {
        let client = client(mode).connect(&*served.url).await.unwrap();
        let tools = client.list_all_tools().await.unwrap();
        let has = |name: &str| tools.iter().any(|tool| tool.name == name);
        assert!(has("near__add") && has("far__add") && has("near__fail") && !has("far__fail"));
        for server in ["near", "far"] {
            let order = client.call(format!("{server}__order"), ()).await.unwrap();
            assert_eq!(order.text(), "3 items");
        }
        client.close().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn gateway_on_standard_streams_serves_clients_of_programs() {
    let file = config("stdio");
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp"));
    command.arg("gateway").arg(&file).arg("--stdio");
    command.env("HOME", folder("gateway_home"));
    let client = client(ConnectMode::Auto).connect(command).await.unwrap();
    let order = client.call("near__order", ()).await.unwrap();
    assert_eq!(order.text(), "3 items");
    client.close().await.unwrap();
}

#[test]
fn unusable_arguments_are_refused() {
    let empty = folder("gateway_files").join("empty.json");
    std::fs::write(&empty, "{\"mcpServers\": {}}").unwrap();
    let empty = empty.to_str().unwrap();
    for words in [
        &["gateway", empty][..],
        &["gateway", "missing.json"],
        &["serve"],
        &["serve", "nobody"],
    ] {
        let run = mcp(words);
        assert_eq!((run.code, &*run.out), (1, ""), "{words:?}: {run:?}");
    }
    let run = mcp(&["serve", "--", "no-such-program-anywhere"]);
    assert_eq!(run.code, 4, "{run:?}");
}

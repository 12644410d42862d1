//! `mcp proxy` as the server of a client on standard streams.

use std::process::Command;

use mcp::ConnectMode;
use mcp::prelude::*;
use mcp::types::{ElicitResult, ProtocolVersion};
use serde_json::json;

use crate::kit::{folder, http_shop, mcp};

fn proxy(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp"));
    command.arg("proxy").args(words);
    command.env("HOME", folder("proxy_home"));
    command
}

fn modes() -> Vec<ConnectMode> {
    let pinned = ProtocolVersion::ALL.into_iter().map(ConnectMode::Pin);
    pinned.chain([ConnectMode::Auto]).collect()
}

#[tokio::test]
async fn every_revision_passes_with_progress_and_questions() {
    let url = http_shop();
    for mode in modes() {
        let client = Client::builder()
            .mode(mode.clone())
            .on_elicit(async |_| {
                ElicitResult::accept([("count".to_owned(), json!(3))].into_iter().collect())
            })
            .connect(proxy(&[&url]))
            .await
            .unwrap();
        let mut progress = Vec::new();
        let sum = client
            .call("add", json!({ "a": 1, "b": 2 }))
            .on_progress(|update| progress.push(update.progress))
            .await
            .unwrap();
        assert_eq!((sum.text(), progress), ("3".into(), vec![1.0]), "{mode:?}");
        let revision = client.protocol_version();
        // Forms came with revision 2025-06-18.
        if revision >= ProtocolVersion::V2025_06_18 {
            let order = client.call("order", ()).await.unwrap();
            assert_eq!(order.text(), "3 items", "{mode:?}");
        }
        let disks = client.read_resource("disks://all").await.unwrap();
        assert_eq!(disks.text(), "A, B");
        client.close().await.unwrap();
    }
}

#[tokio::test]
async fn ignored_tools_are_hidden() {
    let client = Client::connect(proxy(&[
        &http_shop(),
        "--ignore-tool",
        "p*",
        "--ignore-tool",
        "f?il",
    ]))
    .await
    .unwrap();
    let tools = client.list_tools().await.unwrap();
    let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["add", "escape", "bake", "order", "wait"]);
    assert!(client.call("fail", ()).await.is_err());
    client.close().await.unwrap();
}

#[test]
fn proxy_needs_a_server_over_http() {
    for words in [&["proxy"][..], &["proxy", "--", "x"], &["proxy", "nobody"]] {
        let run = mcp(words);
        assert_eq!((run.code, &*run.out), (1, ""), "{words:?}: {run:?}");
    }
}

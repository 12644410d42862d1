//! `mcp record` and `mcp replay`.

use std::path::{Path, PathBuf};
use std::process::Command;

use mcp::ConnectMode;
use mcp::prelude::*;
use serde_json::{Value, json};

use crate::kit::{folder, http_shop, mcp, stdio_shop};

/// The command `mcp` with these words.
fn command(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp"));
    command.args(words).env("HOME", folder("empty"));
    command
}

/// Uses a server that `mcp` connects with: a list, a call with progress, a form, an error.
async fn use_shop(words: &[&str], mode: ConnectMode) {
    let client = Client::builder().mode(mode).on_elicit(async |_| {
        ElicitResult::accept([("count".to_owned(), json!(3))].into_iter().collect())
    });
    let client = client.connect(command(words)).await.unwrap();
    assert_eq!(client.list_tools().await.unwrap().len(), 7);
    for sum in [3, 5] {
        let mut progress = Vec::new();
        let call = client.call("add", json!({ "a": 1, "b": sum - 1 }));
        let result = call
            .on_progress(|update| progress.push(update.progress))
            .await;
        assert_eq!(result.unwrap().text(), sum.to_string());
        assert_eq!(progress, [1.0]);
    }
    let order = client.call("order", ()).await.unwrap();
    assert_eq!(order.text(), "3 items");
    assert!(client.read_resource("disks://none").await.is_err());
    client.close().await.unwrap();
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().unwrap().to_owned()
}

fn lines(file: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[tokio::test]
async fn recorded_session_is_replayed_and_compared_in_both_eras() {
    let folder = folder("recordings");
    let (url, shop) = (http_shop(), stdio_shop());
    let modes = [("auto", ConnectMode::Auto), ("legacy", ConnectMode::Legacy)];
    for (name, mode) in modes {
        for (kind, target) in [("http", vec![&*url]), ("stdio", vec!["--", &*shop])] {
            let file = path(&folder, &format!("{name}-{kind}.jsonl"));
            let record = [&["record", "-o", &file][..], &target].concat();
            use_shop(&record, mode.clone()).await;
            let recorded = lines(&file);
            assert_eq!(recorded[0]["recording"], 1, "{file}");
            assert!(recorded.len() > 8, "{file}: {recorded:?}");
            // The recording alone is a server.
            use_shop(&["replay", &file], mode.clone()).await;
            // The other transport gives the same responses.
            for target in [&["--", &*shop][..], &[&*url]] {
                let words = [&["replay", &file, "--against"][..], target].concat();
                let run = mcp(&words);
                assert_eq!((run.code, &*run.out), (0, ""), "{file}: {run:?}");
                assert!(run.err.contains("no differences"), "{run:?}");
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn recording_is_private_and_follows_no_link() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let folder = folder("recordings-private");
    let (file, link) = (path(&folder, "session.jsonl"), path(&folder, "link.jsonl"));
    std::fs::write(&file, "old").unwrap();
    let readable = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(&file, readable).unwrap();
    let _ = std::fs::remove_file(&link);
    symlink(&file, &link).unwrap();
    let shop = stdio_shop();
    let run = mcp(&["record", "-o", &link, "--", &shop]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.err.contains("symbolic link"), "{run:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "old");
    let run = mcp(&["record", "-o", &file, "--", &shop]);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(lines(&file)[0]["recording"], 1);
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// Writes a recording of one call, whose response has the text `text`.
fn recording(folder: &Path, text: &str) -> PathBuf {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "add", "arguments": {"a": 1, "b": 2}, "_meta": meta},
    });
    let result = json!({
        "resultType": "complete", "content": [{"type": "text", "text": text}],
    });
    let response = json!({"jsonrpc": "2.0", "id": 1, "result": result});
    let listen = json!({"jsonrpc": "2.0", "id": 2, "method": "subscriptions/listen"});
    let lines = [
        json!({"recording": 1, "target": "test"}),
        json!({"ms": 1, "from": "client", "message": call}),
        json!({"ms": 2, "from": "server", "message": response}),
        json!({"ms": 3, "from": "client", "message": listen}),
    ];
    let file = folder.join("session.jsonl");
    std::fs::write(&file, lines.map(|line| line.to_string()).join("\n")).unwrap();
    file
}

#[test]
fn different_response_has_exit_code_1_and_a_path() {
    let folder = folder("recordings-different");
    let file = recording(&folder, "4");
    let file = file.to_str().unwrap();
    let shop = stdio_shop();
    let run = mcp(&["replay", file, "--against", "--json", "--", &shop]);
    assert_eq!(run.code, 1, "{run:?}");
    let document = run.json();
    assert_eq!(document["requests"], 1);
    let expected = json!([{
        "line": 2, "method": "tools/call", "path": "/result/content/0/text",
        "recorded": "4", "actual": "3",
    }]);
    assert_eq!(document["differences"], expected);
    assert_eq!(run.json_error()["kind"], "different");
    let run = mcp(&["replay", file, "--against", &http_shop()]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.out.contains("\"4\" became \"3\""), "{run:?}");
    assert!(
        run.err
            .contains("line 4: subscriptions/listen has no response"),
        "{run:?}"
    );
    let run = mcp(&["replay", file, "--against", "--ignore", "text", "--", &shop]);
    assert_eq!(run.code, 0, "{run:?}");
}

#[tokio::test]
async fn request_without_a_recording_is_an_error() {
    let file = recording(&folder("recordings-unknown"), "3");
    let words = ["replay", file.to_str().unwrap()];
    let version = ConnectMode::Pin(ProtocolVersion::V2026_07_28);
    let client = Client::builder().mode(version);
    let client = client.connect(command(&words)).await.unwrap();
    let sum = client.call("add", json!({"a": 1, "b": 2})).await.unwrap();
    assert_eq!(sum.text(), "3");
    let error = client
        .call("add", json!({"a": 1, "b": 3}))
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("the recording has no request"),
        "{error}"
    );
    client.close().await.unwrap();
}

#[tokio::test]
async fn full_recording_keeps_whole_lines() {
    let file = path(&folder("recordings-full"), "session.jsonl");
    let shop = stdio_shop();
    let words = ["record", "-o", &file, "--max-bytes", "400", "--", &shop];
    use_shop(&words, ConnectMode::Auto).await;
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.len() <= 400 && text.ends_with('\n'), "{text}");
    assert_eq!(lines(&file)[0]["recording"], 1);
}

#[test]
fn wrong_words_and_files_have_exit_code_1() {
    let folder = folder("recordings-wrong");
    let file = path(&folder, "bad.jsonl");
    std::fs::write(&file, "{}\n").unwrap();
    let absent = path(&folder, "absent/session.jsonl");
    for words in [
        &["record", "http://127.0.0.1:1/mcp"][..],
        &["record", "-o", &absent, "http://127.0.0.1:1/mcp"],
        &["replay", &file],
        &["replay", &absent],
        &["replay", &file, "--ignore", "text"],
    ] {
        let run = mcp(words);
        assert_eq!((run.code, &*run.out), (1, ""), "{words:?}: {run:?}");
    }
    let file = recording(&folder, "3");
    let run = mcp(&["replay", file.to_str().unwrap(), "shop"]);
    assert!(run.err.contains("pass --against"), "{run:?}");
    let run = mcp(&["replay", file.to_str().unwrap(), "--against"]);
    assert_eq!(run.code, 1, "{run:?}");
}

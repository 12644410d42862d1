//! The examples that speak over pipes and sockets, and the promises of `serve_stdio`.

use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::Command;
use tokio::time::timeout;

use crate::{LIMIT, output};

const SERVER: &str = env!("CARGO_BIN_EXE_stdio_server");

fn bake(id: i64, seconds: f64) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": "bake", "arguments": { "seconds": seconds }, "_meta": meta });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
}

/// What the server makes of this input.
async fn served(input: &str) -> Output {
    let mut child = Command::new(SERVER)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).await.unwrap();
    drop(stdin);
    timeout(LIMIT, child.wait_with_output())
        .await
        .unwrap()
        .unwrap()
}

#[tokio::test]
async fn every_request_is_answered_before_the_end() {
    let input: Vec<String> = (1..=3).map(|id| bake(id, 2.0)).collect();
    let start = Instant::now();
    let output = served(&input.join("\n")).await;
    assert!(output.status.success());
    assert!(start.elapsed() < Duration::from_secs(4));
    let text = String::from_utf8(output.stdout).unwrap();
    let mut ids: Vec<i64> = text
        .lines()
        .map(|line| {
            let answer: Value = serde_json::from_str(line).unwrap();
            assert_eq!(
                answer["result"]["content"][0]["text"],
                "bread after 2 seconds"
            );
            answer["id"].as_i64().unwrap()
        })
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 3]);
    // What the handler has printed.
    let printed = String::from_utf8(output.stderr).unwrap();
    assert_eq!(printed, "somebody wants bread\n".repeat(3));
}

#[tokio::test]
async fn input_from_a_file_and_from_nowhere() {
    let path = std::env::temp_dir().join(format!("mcp-requests-{}", std::process::id()));
    std::fs::write(&path, bake(1, 0.0)).unwrap();
    for (file, answers) in [(path.as_path(), 1), ("/dev/null".as_ref(), 0)] {
        let mut command = Command::new(SERVER);
        command.stdin(std::fs::File::open(file).unwrap());
        let start = Instant::now();
        assert_eq!(output(&mut command).await.lines().count(), answers);
        assert!(start.elapsed() < Duration::from_secs(2));
    }
    std::fs::remove_file(path).unwrap();
}

#[tokio::test]
async fn client_and_child() {
    let mut client = Command::new(env!("CARGO_BIN_EXE_stdio_client"));
    client.args([SERVER, "--", "bake", r#"{"seconds": 0}"#]);
    let text = output(&mut client).await;
    let expected = "bake: Bake some bread, as long as you like.\nbread after 0 seconds\n";
    assert_eq!(text, expected);
}

/// Neither the server nor the call that runs in it outlives a client that was killed.
#[cfg(unix)]
#[tokio::test]
async fn nothing_outlives_a_client_that_was_killed() {
    let path = std::env::temp_dir().join(format!("mcp-server-pid-{}", std::process::id()));
    let script = format!("echo $$ > {}; exec {SERVER}", path.display());
    let mut client = Command::new(env!("CARGO_BIN_EXE_stdio_client"))
        .args(["sh", "-c", &script, "--", "bake", r#"{"seconds": 1000}"#])
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(client.stdout.take().unwrap()).lines();
    // The list is there: the call comes next.
    timeout(LIMIT, lines.next_line()).await.unwrap().unwrap();
    tokio::time::sleep(Duration::from_millis(200)).await;
    let pid = std::fs::read_to_string(&path).unwrap();
    client.kill().await.unwrap();
    let start = Instant::now();
    loop {
        let state = Command::new("ps")
            .args(["-o", "stat=", "-p", pid.trim()])
            .output()
            .await;
        let state = String::from_utf8(state.unwrap().stdout).unwrap();
        // Who reaps it is the business of the process that has inherited it.
        if state.is_empty() || state.starts_with('Z') {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(2), "{state}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    std::fs::remove_file(path).unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn many_clients_on_a_socket() {
    let path = std::env::temp_dir().join(format!("mcp-socket-{}", std::process::id()));
    let socket = || Command::new(env!("CARGO_BIN_EXE_unix_socket"));
    let mut server = socket()
        .arg("serve")
        .arg(&path)
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    timeout(LIMIT, lines.next_line()).await.unwrap().unwrap();
    for name in ["Ada", "Grace"] {
        let greeting = output(socket().arg("call").arg(&path).arg(name)).await;
        assert_eq!(greeting, format!("Hello, {name}!\n"));
    }
    std::fs::remove_file(path).unwrap();
}

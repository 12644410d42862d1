//! The examples for stdio and sockets, and the guarantees of `serve_stdio`.

use std::process::{Output, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::Command;
use tokio::time::timeout;

use crate::{LIMIT, output};

/// Less than the ten seconds that a server waits for running calls.
const SHORTER_THAN_DRAIN: Duration = Duration::from_secs(8);

const SERVER: &str = env!("CARGO_BIN_EXE_stdio_server");

fn bake(id: i64, seconds: f64) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": "bake", "arguments": { "seconds": seconds }, "_meta": meta });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
}

/// Runs the server with this input until it exits.
async fn serve_input(input: &str) -> Output {
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

// spec: STDIO-03
#[tokio::test]
async fn concurrent_requests_are_answered_before_exit() {
    // Concurrent calls are answered in order of their durations.
    let input = [bake(1, 1.5), bake(2, 0.75), bake(3, 0.0)];
    let output = serve_input(&input.join("\n")).await;
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let answers: Vec<(i64, String)> = text
        .lines()
        .map(|line| {
            let answer: Value = serde_json::from_str(line).unwrap();
            let text = answer["result"]["content"][0]["text"].as_str();
            (answer["id"].as_i64().unwrap(), text.unwrap().to_owned())
        })
        .collect();
    let bread = |id, seconds: &str| (id, format!("bread after {seconds} seconds"));
    assert_eq!(answers, [bread(3, "0"), bread(2, "0.75"), bread(1, "1.5")]);
    // The output of `println!` in the handler.
    let printed = String::from_utf8(output.stderr).unwrap();
    assert_eq!(printed, "baking\n".repeat(3));
}

#[tokio::test]
async fn server_exits_when_input_ends() {
    let path = std::env::temp_dir().join(format!("mcp-requests-{}", std::process::id()));
    std::fs::write(&path, bake(1, 0.0)).unwrap();
    for (file, answers) in [(path.as_path(), 1), ("/dev/null".as_ref(), 0)] {
        let mut command = Command::new(SERVER);
        command.stdin(std::fs::File::open(file).unwrap());
        let output = timeout(SHORTER_THAN_DRAIN, output(&mut command)).await;
        assert_eq!(output.unwrap().lines().count(), answers);
    }
    std::fs::remove_file(path).unwrap();
}

#[tokio::test]
async fn client_calls_child_process() {
    let mut client = Command::new(env!("CARGO_BIN_EXE_stdio_client"));
    client.args([SERVER, "--", "bake", r#"{"seconds": 0}"#]);
    let text = output(&mut client).await;
    let expected = "bake: Bake some bread for the given time.\nbread after 0 seconds\n";
    assert_eq!(text, expected);
}

/// The server and its running call end when the client is killed.
#[cfg(unix)]
#[tokio::test]
async fn server_exits_when_client_is_killed() {
    let path = std::env::temp_dir().join(format!("mcp-server-pid-{}", std::process::id()));
    let log = path.with_extension("log");
    let (pid_file, log_file) = (path.display(), log.display());
    let script = format!("echo $$ > {pid_file}; exec {SERVER} 2> {log_file}");
    let mut client = Command::new(env!("CARGO_BIN_EXE_stdio_client"))
        .args(["sh", "-c", &script, "--", "bake", r#"{"seconds": 1000}"#])
        .stdout(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    // The handler prints a line when the call starts.
    let started = async {
        while !std::fs::read_to_string(&log).is_ok_and(|log| log.contains("baking")) {
            tokio::task::yield_now().await;
        }
    };
    timeout(LIMIT, started).await.unwrap();
    let pid = std::fs::read_to_string(&path).unwrap();
    client.kill().await.unwrap();
    let exited = async {
        loop {
            let state = Command::new("ps")
                .args(["-o", "stat=", "-p", pid.trim()])
                .output()
                .await;
            let state = String::from_utf8(state.unwrap().stdout).unwrap();
            // A zombie process has exited; its new parent process reaps it.
            if state.is_empty() || state.starts_with('Z') {
                break;
            }
        }
    };
    timeout(SHORTER_THAN_DRAIN, exited).await.unwrap();
    std::fs::remove_file(path).unwrap();
    std::fs::remove_file(log).unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn unix_socket_serves_many_clients() {
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

#[tokio::test]
async fn message_transports_carry_both_eras() {
    for (argument, name) in [("channels", "channels"), ("websocket", "a websocket")] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_message_transport"));
        let text = output(command.arg(argument)).await;
        let expected = ["2026-07-28", "2025-11-25"]
            .map(|version| format!("{version} over {name}: tea after 3 minutes, 3 reports\n"));
        assert_eq!(text, expected.concat());
    }
}

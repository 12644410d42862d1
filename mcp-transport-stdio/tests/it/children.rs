//! Real child processes: shell scripts, some of which ignore signals.

use std::error::Error;
use std::process::Command;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use mcp_core::{Channel, ChannelError, CloseReason, Frames, MirroredHeaders, OutgoingRequest};
use mcp_transport_stdio::{ChildChannel, PipeChannel, ServerCommand};
use mcp_types::ProtocolVersion;
use serde_json::{Value, json};
use tokio::time::timeout;

/// Longer than every operation here, so that a hang fails the test.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A script that sends its process id and that of a child, and ignores SIGTERM.
const IGNORES_SIGTERM: &str = r#"
    trap '' TERM
    sleep 1000 &
    echo "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":{\"pids\":[$$,$!]}}"
    while :; do sleep 1000; done
"#;

fn script(text: &str) -> ServerCommand {
    ServerCommand::new("sh")
        .args(["-c", text])
        .close_timeout(Duration::from_millis(100))
        .term_timeout(Duration::from_millis(100))
}

fn request() -> OutgoingRequest {
    let mirror = MirroredHeaders::new(ProtocolVersion::V2026_07_28, "tools/call", None);
    OutgoingRequest::new(
        1.into(),
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#,
        mirror,
    )
}

async fn next(frames: &mut Frames) -> Result<Value, ChannelError> {
    let frame = timeout(TIMEOUT, frames.next()).await.unwrap().unwrap()?;
    Ok(serde_json::from_slice(&frame.message).unwrap())
}

/// Receives the process ids of the script.
async fn pids(channel: &ChildChannel) -> Vec<u64> {
    let message = next(&mut channel.inbound().unwrap()).await.unwrap();
    let pids = message["params"]["pids"].as_array().unwrap();
    pids.iter().map(|pid| pid.as_u64().unwrap()).collect()
}

/// Returns the states of these processes, one letter for each process that exists.
fn states(pids: &[u64]) -> String {
    let list = pids
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(",");
    let output = Command::new("ps")
        .args(["-o", "stat=", "-p", &list])
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Waits until the first process is gone and its child does not run. The process that has inherited
/// the child may reap it later.
fn assert_end(pids: &[u64]) {
    let start = Instant::now();
    while !states(&pids[..1]).is_empty() || states(pids).chars().any(|state| "RSDT".contains(state))
    {
        assert!(start.elapsed() < TIMEOUT, "{}", states(pids));
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[tokio::test]
async fn call_to_child_returns_response() {
    let answer = r#"read line; echo '{"jsonrpc":"2.0","id":1,"result":{"a":1}}'; cat"#;
    let channel = ChildChannel::spawn(script(answer)).unwrap();
    assert_eq!(channel.peer(), "sh");
    let answer = next(&mut channel.call(request())).await.unwrap();
    assert_eq!(answer["result"], json!({ "a": 1 }));
    channel.close().await.unwrap();
    assert_eq!(channel.closed().await, CloseReason::Local);
}

#[tokio::test]
async fn exited_child_reports_status_and_stderr() {
    let ends = "read line; echo 'no configuration' >&2; exit 3";
    let channel = ChildChannel::spawn(script(ends)).unwrap();
    let error = next(&mut channel.call(request()))
        .await
        .unwrap_err()
        .to_string();
    for part in ["exit status: 3", "no configuration"] {
        assert!(error.contains(part), "{error}");
    }
    assert!(matches!(channel.closed().await, CloseReason::Broken(_)));
    assert_eq!(channel.stderr_tail(), "no configuration");
}

#[tokio::test]
async fn killed_child_reports_signal() {
    let channel = ChildChannel::spawn(script("read line; kill -9 $$")).unwrap();
    let error = next(&mut channel.call(request()))
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("signal: 9"), "{error}");
}

#[tokio::test]
async fn spawn_error_names_the_cause() {
    let source = |command| {
        let error = ChildChannel::spawn(command).unwrap_err();
        assert!(matches!(error, ChannelError::Connect { .. }));
        error.source().unwrap().to_string()
    };
    let missing = source(ServerCommand::new("no-such-program"));
    assert!(missing.contains("installed"), "{missing}");
    let line = source(ServerCommand::new("npx -y something"));
    assert!(line.contains("arguments apart"), "{line}");
    let nowhere = source(script("exit").current_dir("/no/such/folder"));
    assert!(nowhere.contains("/no/such/folder"), "{nowhere}");
    assert!(nowhere.contains("no folder"), "{nowhere}");
}

#[tokio::test]
async fn env_variables_are_inherited_by_name_only() {
    let tell = r#"echo "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":{
        \"v\":\"$CARGO_PKG_NAME|$CARGO_PKG_VERSION|$GIVEN|${PATH:+path}\"}}" | tr -d '\n'; echo; cat"#;
    let command = script(tell)
        .inherit_env(["CARGO_PKG_NAME", "NOT_SET"])
        .env("GIVEN", "given");
    let channel = ChildChannel::spawn(command).unwrap();
    let message = next(&mut channel.inbound().unwrap()).await.unwrap();
    // Cargo sets both variables, and neither is inherited by default.
    let named = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    assert_eq!(message["params"]["v"], format!("{named}||given|path"));
}

#[tokio::test]
async fn server_command_from_std_command_keeps_settings() {
    let mut command = Command::new("sh");
    command.args([
        "-c",
        r#"read line; echo "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"v\":\"$V $PWD\"}}""#,
    ]);
    command.env("V", "x").current_dir("/");
    let channel = ChildChannel::spawn(ServerCommand::from(&command)).unwrap();
    let answer = next(&mut channel.call(request())).await.unwrap();
    assert_eq!(answer["result"]["v"], "x /");
}

#[tokio::test]
async fn close_waits_for_child_to_exit() {
    let folder = std::env::temp_dir().join(format!("mcp-stdio-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let polite = script("cat > /dev/null; sleep 0.05; echo bye > last").current_dir(&folder);
    let channel = ChildChannel::spawn(polite.close_timeout(TIMEOUT)).unwrap();
    channel.close().await.unwrap();
    assert_eq!(
        std::fs::read_to_string(folder.join("last")).unwrap(),
        "bye\n"
    );
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test]
async fn close_kills_child_that_ignores_sigterm() {
    let channel = ChildChannel::spawn(script(IGNORES_SIGTERM)).unwrap();
    let pids = pids(&channel).await;
    let start = Instant::now();
    channel.close().await.unwrap();
    assert!(start.elapsed() >= Duration::from_millis(200));
    assert_end(&pids);
}

#[tokio::test]
async fn exited_child_leaves_no_descendants() {
    let parent = r#"
        sleep 1000 > /dev/null &
        echo "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":{\"pids\":[$$,$!]}}"
    "#;
    let channel = ChildChannel::spawn(script(parent)).unwrap();
    assert_end(&pids(&channel).await);
    assert!(
        channel
            .closed()
            .await
            .to_string()
            .contains("exit status: 0")
    );
}

#[tokio::test]
async fn dropped_channel_kills_child_that_ignores_sigterm() {
    let channel = ChildChannel::spawn(script(IGNORES_SIGTERM)).unwrap();
    let pids = pids(&channel).await;
    drop(channel);
    assert_end(&pids);
}

#[tokio::test]
async fn panic_kills_child_that_ignores_sigterm() {
    let channel = ChildChannel::spawn(script(IGNORES_SIGTERM)).unwrap();
    let pids = pids(&channel).await;
    let task = tokio::spawn(async move {
        let _channel = channel;
        panic!("as intended");
    });
    assert!(task.await.is_err());
    assert_end(&pids);
}

#[test]
fn runtime_shutdown_kills_child_that_ignores_sigterm() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let (channel, pids) = runtime.block_on(async {
        let channel = ChildChannel::spawn(script(IGNORES_SIGTERM)).unwrap();
        let pids = pids(&channel).await;
        (channel, pids)
    });
    runtime.spawn(async move {
        let _channel = channel;
        std::future::pending::<()>().await;
    });
    drop(runtime);
    assert_end(&pids);
}

#[tokio::test]
async fn reopen_starts_child_again() {
    let counts = r#"read line; echo '{"jsonrpc":"2.0","id":1,"result":{}}'"#;
    let channel = ChildChannel::spawn(script(counts)).unwrap();
    for _ in 0..3 {
        assert!(next(&mut channel.call(request())).await.is_ok());
        assert!(matches!(channel.closed().await, CloseReason::Broken(_)));
        assert!(next(&mut channel.call(request())).await.is_err());
        channel.reopen().await.unwrap();
    }
}

#[tokio::test]
async fn reopened_child_reports_its_own_last_lines_once() {
    let ends = "echo 'no key' >&2; exit 3";
    let channel = ChildChannel::spawn(script(ends)).unwrap();
    assert!(
        channel
            .closed()
            .await
            .to_string()
            .ends_with("with:\nno key")
    );
    channel.reopen().await.unwrap();
    let reason = channel.closed().await.to_string();
    assert_eq!(reason.matches("no key").count(), 1, "{reason}");
    assert_eq!(channel.stderr_tail(), "no key");
}

#[test]
fn debug_and_errors_show_no_arguments_or_values() {
    let command = ServerCommand::new("npx")
        .args(["-y", "server", "--token=hunter2"])
        .env("API_KEY", "hunter2");
    let shown = format!("{command:?}");
    assert!(!shown.contains("hunter2"), "{shown}");
    for part in ["npx", "args: 3", "API_KEY"] {
        assert!(shown.contains(part), "{shown}");
    }
}

#[tokio::test]
async fn error_about_a_command_line_as_program_omits_arguments() {
    let line = ServerCommand::new("no-such-program --token=hunter2/x");
    let error = ChildChannel::spawn(line).unwrap_err();
    let source = error.source().unwrap();
    let shown = format!("{error} {error:?} {source} {source:?}");
    assert!(!shown.contains("hunter2"), "{shown}");
    assert!(shown.contains("no-such-program"), "{shown}");
}

#[tokio::test]
async fn identity_depends_on_command_arguments_environment_and_folder() {
    let identity = |command: ServerCommand| ChildChannel::spawn(command).unwrap().identity();
    let command = || script("cat");
    let first = identity(command());
    assert!(first.is_some());
    assert_eq!(identity(command().name("other")), first);
    for other in [
        script("cat; true"),
        command().arg("x"),
        command().env("TENANT", "1"),
        command().env("TENANT", "2"),
        command().inherit_all_env(),
        command().current_dir("/"),
    ] {
        assert_ne!(identity(other), first);
    }
    let (reader, writer) = tokio::io::split(tokio::io::duplex(64).0);
    assert_eq!(PipeChannel::new(reader, writer).identity(), None);
}

/// The test of this file that is run as a program of its own.
const PROGRAM: &str = "children::program_with_child_that_ignores_sigterm";
/// Selects how the program ends.
const END: &str = "MCP_TEST_END";

/// A program that starts a child and ends in the way that the environment variable selects.
#[tokio::test]
#[ignore = "is run by the tests below"]
async fn program_with_child_that_ignores_sigterm() {
    let Ok(end) = std::env::var(END) else { return };
    let channel = ChildChannel::spawn(script(IGNORES_SIGTERM)).unwrap();
    let pids = pids(&channel).await;
    println!("pids {} {}", pids[0], pids[1]);
    match &*end {
        "drop" => drop(channel),
        "kill" => {
            let own = std::process::id().to_string();
            Command::new("kill").args(["-9", &own]).status().unwrap();
        }
        _ => {}
    }
    std::process::exit(0);
}

/// Waits until no process runs. The init process may reap them later.
fn assert_none_runs(pids: &[u64]) {
    let start = Instant::now();
    while states(pids).chars().any(|state| "RSDT".contains(state)) {
        assert!(start.elapsed() < TIMEOUT, "{}", states(pids));
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Runs the program and returns the process ids of its child.
fn run_program(end: &str) -> Vec<u64> {
    let program = std::env::current_exe().unwrap();
    let output = Command::new(program)
        .args([PROGRAM, "--exact", "--ignored", "--nocapture"])
        .env(END, end)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find_map(|line| line.split_once("pids "));
    let (_, pids) = line.unwrap_or_else(|| panic!("{text}"));
    pids.split(' ').map(|pid| pid.parse().unwrap()).collect()
}

#[test]
fn child_that_ignores_sigterm_ends_with_the_program() {
    for end in ["drop", "exit", "kill"] {
        assert_none_runs(&run_program(end));
    }
}

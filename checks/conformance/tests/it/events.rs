//! The scenarios of the events extension: `everything-client` against `everything-server`.

use std::process::Stdio;
use std::time::Duration;

use conformance::cluster::RedisServer;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// Longer than every operation here, so that a hang fails the test.
const LIMIT: Duration = Duration::from_secs(60);

/// Starts a server. It is killed with the result.
async fn start(arguments: &[&str]) -> (Child, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_everything-server"))
        .args(arguments)
        .env("PORT", "0")
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let line = timeout(LIMIT, lines.next_line()).await.unwrap().unwrap();
    let url = line.unwrap().replace("listening on ", "");
    // The pipe must be drained, or the server blocks on it.
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    (child, url)
}

/// Runs a scenario. Returns its output.
async fn run(scenario: &str, url: &str) -> Result<String, String> {
    let child = Command::new(env!("CARGO_BIN_EXE_everything-client"))
        .arg(url)
        .env("MCP_CONFORMANCE_SCENARIO", scenario)
        .kill_on_drop(true)
        .output();
    let output = timeout(LIMIT, child).await.unwrap().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    if output.status.success() {
        Ok(text(output.stdout))
    } else {
        Err(text(output.stderr))
    }
}

/// Runs the scenarios, each at the next one of the servers.
async fn run_all(urls: &[String]) {
    let event = r#"test.counted: {"count":3}"#;
    for (number, (scenario, expected)) in [
        ("events-list", "test.counted: [Poll, Push, Webhook]"),
        ("events-poll", event),
        ("events-stream", event),
        ("events-webhook", event),
    ]
    .into_iter()
    .enumerate()
    {
        let output = run(scenario, &urls[number % urls.len()]).await.unwrap();
        assert!(output.contains(expected), "{scenario}: {output}");
    }
    let error = run("events-no-extension", &urls[0]).await.unwrap_err();
    assert!(error.contains("the server declares events"), "{error}");
}

#[tokio::test]
async fn client_gets_events_from_one_server_in_every_way() {
    let (_server, url) = start(&["--webhooks"]).await;
    run_all(&[url]).await;
}

#[tokio::test]
async fn client_gets_events_from_redis_nodes_in_every_way() {
    let Some(redis) = RedisServer::start().await.unwrap() else {
        eprintln!("skipped: redis-server is not installed");
        return;
    };
    let url = redis.url();
    let arguments = ["--webhooks", "--redis", &url, "--prefix", "events"];
    let (_first, first) = start(&arguments).await;
    let (_second, second) = start(&arguments).await;
    run_all(&[first, second]).await;
}

#[tokio::test]
async fn server_without_webhooks_has_no_event_type_with_them() {
    let (_server, url) = start(&[]).await;
    let error = run("events-webhook", &url).await.unwrap_err();
    assert!(error.contains("no event type with Webhook"), "{error}");
}

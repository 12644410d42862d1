//! Timeouts, in paused time.

use std::time::Duration;

use mcp_client::{Client, ConnectMode, Error, Over};
use mcp_types::{CallToolResult, ProtocolVersion};
use tokio::time::Instant;

use crate::script::{Script, log, progress, text, unsupported, wait};

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn timed_out(result: Result<CallToolResult, Error>, message: &str) {
    let error = result.unwrap_err();
    assert!(
        error.is_timeout() && !error.is_closed() && error.is_retryable() && error.may_have_run(),
        "{error:?}"
    );
    let end = "the server may have executed the call";
    assert_eq!(
        error.to_string(),
        format!("tools/call \"add\" at script:: {message}; {end}")
    );
}

#[tokio::test(start_paused = true)]
async fn silent_server_times_out() {
    let script = Script::new([]);
    let client = script.client().await;
    let start = Instant::now();
    timed_out(client.call("add", ()).await, "no response within 60s");
    assert_eq!(start.elapsed().as_secs(), 60);
    assert_eq!(script.cancelled(), 1);

    let start = Instant::now();
    timed_out(
        client.call("add", ()).timeout(seconds(3)).await,
        "no response within 3s",
    );
    assert_eq!(start.elapsed().as_secs(), 3);
    assert_eq!(script.cancelled(), 2);
}

#[tokio::test(start_paused = true)]
async fn progress_restarts_timeout() {
    let slow = || {
        vec![
            wait(50),
            progress(1.0),
            wait(50),
            progress(2.0),
            wait(50),
            text("done"),
        ]
    };
    let script = Script::new([slow(), slow()]);
    let client = script.client().await;
    let result = client.call("add", ()).on_progress(drop).await.unwrap();
    assert_eq!(result.text(), "done");
    // Without a hook no progress is requested.
    timed_out(client.call("add", ()).await, "no response within 60s");
}

#[tokio::test(start_paused = true)]
async fn logs_do_not_restart_timeout() {
    let script = Script::new([vec![wait(50), log("info"), wait(50), text("done")]]);
    let client = script.client().await;
    timed_out(
        client.call("add", ()).on_log(drop).await,
        "no response within 60s",
    );
}

#[tokio::test(start_paused = true)]
async fn progress_does_not_extend_total_timeout() {
    let busy = || {
        (0..1000)
            .flat_map(|step| [wait(10), progress(f64::from(step))])
            .collect()
    };
    let script = Script::new([busy(), busy()]);
    let client = script.client().await;
    let start = Instant::now();
    let result = client.call("add", ()).on_progress(drop).await;
    timed_out(result, "no response within a total of 600s");
    assert_eq!(start.elapsed().as_secs(), 600);

    let call = client
        .call("add", ())
        .on_progress(drop)
        .max_total_timeout(seconds(25));
    let start = Instant::now();
    timed_out(call.await, "no response within a total of 25s");
    assert_eq!(start.elapsed().as_secs(), 25);
    assert_eq!(script.cancelled(), 2);
}

#[tokio::test(start_paused = true)]
async fn client_timeouts_apply_to_calls() {
    let busy = (0..1000)
        .flat_map(|step| [wait(9), progress(f64::from(step))])
        .collect();
    let script = Script::new([busy]);
    let client = Client::builder()
        .mode(ConnectMode::Pin(ProtocolVersion::LATEST))
        .timeout(seconds(10))
        .max_total_timeout(seconds(15))
        .connect(Over(script.channel()))
        .await
        .unwrap();
    timed_out(
        client.call("add", ()).on_progress(drop).await,
        "no response within a total of 15s",
    );
    timed_out(client.call("add", ()).await, "no response within 10s");
}

#[tokio::test(start_paused = true)]
async fn version_retry_shares_total_timeout() {
    let script = Script::new([
        vec![wait(50), unsupported(&["2026-07-28"])],
        vec![wait(100)],
    ]);
    let client = script.client().await;
    let start = Instant::now();
    let call = client.call("add", ()).max_total_timeout(seconds(70));
    timed_out(call.await, "no response within a total of 70s");
    assert_eq!(start.elapsed().as_secs(), 70);
}

#[tokio::test(start_paused = true)]
async fn stream_without_end_returns_response() {
    let script = Script::new([vec![text("done"), wait(1000)]]);
    let start = Instant::now();
    assert_eq!(
        script.client().await.call("add", ()).await.unwrap().text(),
        "done"
    );
    assert!(start.elapsed() < Duration::from_millis(50));
    assert_eq!(script.cancelled(), 1);
}

#[tokio::test(start_paused = true)]
async fn huge_timeouts_do_not_overflow() {
    let script = Script::new([vec![wait(3600), text("done")]]);
    let client = script.client().await;
    let call = client
        .call("add", ())
        .timeout(Duration::MAX)
        .max_total_timeout(Duration::MAX);
    assert_eq!(call.await.unwrap().text(), "done");
}

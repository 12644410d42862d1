//! The client of the SDK under load: `bench-client URL TASKS SECONDS [--bare]` calls `echo` from
//! concurrent tasks and prints the same JSON line as `bench-load`. `--bare` uses only reqwest, the HTTP
//! client of the SDK, for comparison.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line tool"
)]

use std::future::Future;
use std::time::{Duration, Instant};

use bench::{Failure, summary};
use mcp::prelude::*;
use serde_json::json;

const MESSAGE: &str = "the quick brown fox";

/// One thread, because one core is measured.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (url, tasks, seconds, bare) = match &arguments[..] {
        [url, tasks, seconds] => (url, tasks, seconds, false),
        [url, tasks, seconds, flag] if flag == "--bare" => (url, tasks, seconds, true),
        _ => return Err("usage: bench-client URL TASKS SECONDS [--bare]".into()),
    };
    let (tasks, time) = (tasks.parse()?, Duration::from_secs_f64(seconds.parse()?));
    let start = Instant::now();
    let (done, error) = if bare {
        // reqwest requires a crypto provider even without TLS.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().tcp_nodelay(true).build()?;
        let url = url.clone();
        run_tasks(tasks, start + time, move || {
            bare_call(http.clone(), url.clone())
        })
        .await
    } else {
        let client = Client::connect(url.as_str()).await?;
        run_tasks(tasks, start + time, move || call(client.clone())).await
    };
    let seconds = start.elapsed().as_secs_f64();
    let (errors, error) = (
        usize::from(error.is_some()),
        error.map(|error| error.to_string()),
    );
    println!("{}", summary(done as u64, seconds, errors, error));
    Ok(())
}

/// Calls from several tasks until `end`. Returns the number of successful calls and the last error.
async fn run_tasks<F>(
    tasks: usize,
    end: Instant,
    call: impl Fn() -> F + Clone + Send + 'static,
) -> (usize, Option<Failure>)
where
    F: Future<Output = Result<(), Failure>> + Send + 'static,
{
    let worker = |_| {
        let call = call.clone();
        tokio::spawn(async move {
            let mut done = 0;
            while Instant::now() < end {
                if let Err(error) = call().await {
                    return (done, Some(error));
                }
                done += 1;
            }
            (done, None)
        })
    };
    let workers: Vec<_> = (0..tasks).map(worker).collect();
    let (mut total, mut last) = (0, None);
    for worker in workers {
        match worker.await {
            Ok((done, error)) => {
                total += done;
                last = error.or(last);
            }
            Err(panic) => last = Some(panic.into()),
        }
    }
    (total, last)
}

async fn call(client: Client) -> Result<(), Failure> {
    let result = client.call("echo", json!({"message": MESSAGE})).await?;
    check(&result.text())
}

async fn bare_call(http: reqwest::Client, url: String) -> Result<(), Failure> {
    let body = json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "name": "echo",
            "arguments": {"message": MESSAGE},
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": bench::era::MODERN,
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    });
    let request = http
        .post(url)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", bench::era::MODERN)
        .header("mcp-method", "tools/call")
        .header("mcp-name", "echo")
        .body(serde_json::to_vec(&body)?);
    let body = request.send().await?.bytes().await?;
    let response: serde_json::Value = serde_json::from_slice(&body)?;
    check(
        response["result"]["content"][0]["text"]
            .as_str()
            .unwrap_or_default(),
    )
}

fn check(text: &str) -> Result<(), Failure> {
    match text {
        MESSAGE => Ok(()),
        other => Err(format!("wrong result: {other}").into()),
    }
}

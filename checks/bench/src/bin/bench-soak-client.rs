//! `bench-soak-client URL SECONDS SERVER`: the client of the SDK in both eras, over HTTP and with
//! child processes (`SERVER stdio`) that die in the middle of calls. It checks every result, prints
//! the number of its tasks on stderr (`tasks N`), and at the end the same JSON line as `bench-load`.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line tool"
)]

use std::time::{Duration, Instant};

use bench::{Failure, joined, summary};
use mcp::prelude::*;
use mcp::{ConnectMode, ServerCommand};
use serde_json::json;
use tokio::runtime;
use tokio::time::{sleep, timeout};

/// Concurrent connections.
const TASKS: u64 = 4;
/// Limit on one connection with its calls.
const LIMIT: Duration = Duration::from_secs(30);
/// Calls on one connection.
const CALLS: u64 = 20;
/// Longest life of a child process that dies, in milliseconds.
const MAX_LIFE: u64 = 300;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, seconds, server] = &arguments[..] else {
        return Err("usage: bench-soak-client URL SECONDS SERVER".into());
    };
    tokio::spawn(report_tasks());
    let start = Instant::now();
    let end = start + Duration::from_secs_f64(seconds.parse()?);
    let tasks: Vec<_> = (0..TASKS)
        .map(|number| tokio::spawn(work(number, url.clone(), server.clone(), end)))
        .collect();
    let (requests, errors, last_error) = joined(tasks).await?;
    let seconds = start.elapsed().as_secs_f64();
    println!("{}", summary(requests, seconds, errors, last_error));
    Ok(())
}

async fn report_tasks() {
    loop {
        let tasks = runtime::Handle::current().metrics().num_alive_tasks();
        eprintln!("tasks {tasks}");
        sleep(Duration::from_millis(250)).await;
    }
}

/// Opens connections of all kinds in turn until `end`. Returns the number of checked results, and the
/// errors.
async fn work(number: u64, url: String, server: String, end: Instant) -> (u64, Vec<String>) {
    let (mut done, mut failures) = (0, Vec::new());
    let mut turn = number;
    while Instant::now() < end {
        turn += 1;
        let kind = Kind::new(turn);
        let outcome = timeout(LIMIT, kind.run(turn, &url, &server, &mut done)).await;
        match outcome {
            Ok(Ok(())) => {}
            // Only a server that dies may break a call off.
            Ok(Err(error)) if kind.dies && !error.to_string().starts_with(WRONG) => {}
            Ok(Err(error)) => failures.push(format!("{kind:?}: {error}")),
            Err(_) => failures.push(format!("{kind:?}: timeout")),
        }
    }
    (done, failures)
}

/// Start of the message about a wrong result.
const WRONG: &str = "wrong result";

/// A kind of connection.
#[derive(Clone, Copy, Debug)]
struct Kind {
    is_legacy: bool,
    is_child: bool,
    /// The child process exits in the middle of the calls.
    dies: bool,
    /// The client is dropped instead of closed.
    is_dropped: bool,
}

impl Kind {
    fn new(turn: u64) -> Self {
        Self {
            is_legacy: turn & 1 == 0,
            is_child: turn & 6 != 0,
            dies: turn & 6 == 2,
            is_dropped: turn & 8 == 0,
        }
    }

    async fn run(self, turn: u64, url: &str, server: &str, done: &mut u64) -> Result<(), Failure> {
        let mode = if self.is_legacy {
            ConnectMode::Legacy
        } else {
            ConnectMode::Auto
        };
        let builder = Client::builder().mode(mode);
        let client = if self.is_child {
            builder.connect(self.command(turn, server)).await?
        } else {
            builder.connect(url).await?
        };
        for call in 0..CALLS {
            let message = format!("message {turn}.{call}");
            let result = client.call("echo", json!({"message": message})).await?;
            if result.text() != message {
                return Err(format!("{WRONG}: {} instead of {message}", result.text()).into());
            }
            *done += 1;
            if self.dies {
                sleep(Duration::from_millis(MAX_LIFE / CALLS)).await;
            }
        }
        // A call that is dropped while it runs.
        let endless = client.call("progress", json!({"n": 100_000}));
        let _ = timeout(Duration::from_millis(5), endless).await;
        if !self.is_dropped {
            client.close().await?;
        }
        Ok(())
    }

    fn command(self, turn: u64, server: &str) -> ServerCommand {
        let command = ServerCommand::new(server).arg("stdio");
        if self.dies {
            let milliseconds = turn * 7919 % MAX_LIFE;
            command.env(bench::EXIT_AFTER_MS, milliseconds.to_string())
        } else {
            command
        }
    }
}

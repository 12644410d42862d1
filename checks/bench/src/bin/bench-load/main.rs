//! The load generator: `bench-load PORT SCENARIO [--era E] [--connections N] [--seconds S]`.
//!
//! Every connection sends one request, waits for its response, checks it, and sends the next one. The
//! program prints one line of JSON. An unexpected response is counted as an error, not as a request.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line tool"
)]

mod cycle;
mod http;
mod load;
mod outcome;
mod pipe;
mod response;
mod sessions;
mod slow;
mod soak;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::json;

use load::{Load, Work};
use outcome::Outcome;

const USAGE: &str = "\
usage: bench-load PORT call|progress|list|big [--era modern|session|stateless]
                  [--connections N] [--seconds S] [--requests N] [--tools N] [--token TOKEN]
       bench-load PORT cycle [--connections N] [--seconds S]
       bench-load PORT sessions [--count N] [--connections N] [--streams]
       bench-load PORT soak [--connections N] [--seconds S] [--seed N] [--store-fails]
       bench-load pipe [--outstanding N] [--seconds S] -- COMMAND ARGUMENTS
       (--requests: of each connection, which then ends; --tools: minimum number of tools in the list)";

/// Time limit for the last response, from the end of the run.
const GRACE: Duration = Duration::from_secs(5);
const PAUSE_AFTER_ERROR: Duration = Duration::from_millis(10);

fn main() -> ExitCode {
    let load = match load::parse(std::env::args().skip(1)) {
        Ok(load) => load,
        Err(error) => {
            eprintln!("bench-load: {error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let (outcome, seconds) = match runtime {
        Ok(runtime) => runtime.block_on(run(load)),
        Err(error) => {
            eprintln!("bench-load: {error}");
            return ExitCode::FAILURE;
        }
    };
    println!("{}", summary(outcome, seconds));
    ExitCode::SUCCESS
}

/// Runs the load. Returns the outcome and its duration in seconds.
async fn run(load: Load) -> (Outcome, f64) {
    let start = Instant::now();
    let end = start + load.time;
    let limit = load.time + GRACE;
    let total = match load.work.clone() {
        Work::Sessions { count, streams } => {
            sessions::hold(load.port, count, load.connections, streams).await
        }
        Work::Pipe {
            outstanding,
            command,
        } => {
            let driven = pipe::drive(&command, load.era, outstanding, end);
            let timed_out = |_| Outcome::error("the process did not respond in time");
            tokio::time::timeout(limit, driven)
                .await
                .unwrap_or_else(timed_out)
        }
        Work::Soak { seed, store_fails } => {
            soak::run(load.port, load.connections, seed, store_fails, end).await
        }
        Work::Cycle | Work::Http(_) => connections(&load, end, limit).await,
    };
    (total, start.elapsed().as_secs_f64())
}

/// Runs several connections.
async fn connections(load: &Load, end: Instant, limit: Duration) -> Outcome {
    let task = |_| tokio::spawn(tokio::time::timeout(limit, drive(load.clone(), end)));
    let tasks: Vec<_> = (0..load.connections).map(task).collect();
    let mut total = Outcome::default();
    for task in tasks {
        let part = match task.await {
            Ok(Ok(part)) => part,
            Ok(Err(_)) => Outcome::error("a connection did not respond in time"),
            Err(panic) => Outcome::error(&panic.to_string()),
        };
        total.add(part);
    }
    total
}

/// Runs one connection until `end` and reconnects after errors.
async fn drive(load: Load, end: Instant) -> Outcome {
    let mut outcome = Outcome::default();
    while Instant::now() < end && outcome.requests() < load.requests {
        let done = match load.work {
            Work::Http(scenario) => http::connection(&load, scenario, end, &mut outcome).await,
            _ => cycle::connection(load.port, end, &mut outcome).await,
        };
        if let Err(error) = done {
            outcome.errors += 1;
            outcome.last_error = Some(error.to_string());
            tokio::time::sleep(PAUSE_AFTER_ERROR).await;
        }
    }
    outcome
}

fn summary(mut outcome: Outcome, seconds: f64) -> serde_json::Value {
    outcome.nanoseconds.sort_unstable();
    let microseconds =
        |share: f64| quantile(&outcome.nanoseconds, share).map(|ns| f64::from(ns) / 1000.0);
    let requests = outcome.nanoseconds.len();
    json!({
        "requests": requests,
        "seconds": seconds,
        "req_per_s": requests as f64 / seconds,
        "p50_us": microseconds(0.50),
        "p99_us": microseconds(0.99),
        "bytes": outcome.bytes,
        "errors": outcome.errors,
        "last_error": outcome.last_error,
    })
}

/// Returns the quantile of sorted values.
fn quantile(sorted: &[u32], share: f64) -> Option<u32> {
    let last = sorted.len().checked_sub(1)?;
    sorted.get((last as f64 * share).round() as usize).copied()
}

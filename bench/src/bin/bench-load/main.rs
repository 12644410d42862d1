//! The load generator: `bench-load PORT SCENARIO [--connections N] [--seconds S] [--tools N]`.
//!
//! Every connection sends one request, waits for its answer, checks it and sends the next. One
//! line of JSON says how it went; what is not a right answer is an error and nothing else.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line tool"
)]

mod answer;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use answer::Answers;
use bench::scenario::Scenario;
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

const USAGE: &str =
    "usage: bench-load PORT call|progress|list|big [--connections N] [--seconds S] [--tools N]
       (--tools: the least number of tools that a list must have)";

/// How long an answer may be late at the end before its connection counts as hung.
const GRACE: Duration = Duration::from_secs(5);
const PAUSE_AFTER_ERROR: Duration = Duration::from_millis(10);

#[derive(Clone, Copy, Debug)]
struct Load {
    port: u16,
    scenario: Scenario,
    connections: usize,
    time: Duration,
}

/// What one connection, or all of them, did.
#[derive(Debug, Default)]
struct Outcome {
    nanoseconds: Vec<u32>,
    /// The bodies of all answers, without their framing as chunks.
    bytes: usize,
    errors: usize,
    last_error: Option<String>,
}

fn main() -> ExitCode {
    let load = match parse(std::env::args().skip(1)) {
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

fn parse(mut args: impl Iterator<Item = String>) -> Result<Load, String> {
    let port = number(args.next(), "PORT")?;
    let mut scenario: Scenario = args.next().ok_or("SCENARIO is missing")?.parse()?;
    let (mut connections, mut seconds) = (1, 1.0);
    while let Some(flag) = args.next() {
        match flag.as_str() {
            "--connections" => connections = number(args.next(), &flag)?,
            "--seconds" => seconds = number(args.next(), &flag)?,
            "--tools" if matches!(scenario, Scenario::List(_)) => {
                scenario = Scenario::List(number(args.next(), &flag)?);
            }
            _ => return Err(format!("unknown argument {flag}")),
        }
    }
    let time = Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())?;
    Ok(Load {
        port,
        scenario,
        connections,
        time,
    })
}

fn number<T: std::str::FromStr>(text: Option<String>, name: &str) -> Result<T, String> {
    let text = text.ok_or_else(|| format!("{name} needs a value"))?;
    text.parse()
        .map_err(|_| format!("{name}: {text} is not a number of the right kind"))
}

/// Runs all connections; the outcome and how long it took.
async fn run(load: Load) -> (Outcome, f64) {
    let start = Instant::now();
    let end = start + load.time;
    let tasks: Vec<_> = (0..load.connections)
        .map(|_| tokio::spawn(tokio::time::timeout(load.time + GRACE, drive(load, end))))
        .collect();
    let mut total = Outcome::default();
    for task in tasks {
        let part = match task.await {
            Ok(Ok(part)) => part,
            Ok(Err(_)) => Outcome::error("a connection hung"),
            Err(panic) => Outcome::error(&panic.to_string()),
        };
        total.nanoseconds.extend(part.nanoseconds);
        total.bytes += part.bytes;
        total.errors += part.errors;
        total.last_error = part.last_error.or(total.last_error);
    }
    (total, start.elapsed().as_secs_f64())
}

impl Outcome {
    fn error(message: &str) -> Self {
        Self {
            errors: 1,
            last_error: Some(message.to_owned()),
            ..Self::default()
        }
    }
}

/// Keeps one connection busy until the end, with a new one after each error.
async fn drive(load: Load, end: Instant) -> Outcome {
    let mut outcome = Outcome::default();
    while Instant::now() < end {
        if let Err(error) = connection(load, end, &mut outcome).await {
            outcome.errors += 1;
            outcome.last_error = Some(error.to_string());
            tokio::time::sleep(PAUSE_AFTER_ERROR).await;
        }
    }
    outcome
}

async fn connection(load: Load, end: Instant, outcome: &mut Outcome) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(("127.0.0.1", load.port)).await?;
    stream.set_nodelay(true)?;
    let mut request = load.scenario.request(load.port);
    let mut checker = load.scenario.checker();
    let mut answers = Answers::default();
    while Instant::now() < end {
        let sent = Instant::now();
        let (bytes, id) = request.prepare();
        stream.write_all(bytes).await?;
        let answer = answers.next(&mut stream).await?;
        let time = sent.elapsed();
        if answer.status != 200 || !checker.accepts(answer.body, id) {
            let start = &answer.body[..answer.body.len().min(200)];
            let text = String::from_utf8_lossy(start);
            return Err(answer::invalid(&format!(
                "wrong answer {}: {text}",
                answer.status
            )));
        }
        outcome.bytes += answer.body.len();
        let nanoseconds = u32::try_from(time.as_nanos()).unwrap_or(u32::MAX);
        outcome.nanoseconds.push(nanoseconds);
    }
    Ok(())
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

/// The value below which that share of the sorted values lies.
fn quantile(sorted: &[u32], share: f64) -> Option<u32> {
    let last = sorted.len().checked_sub(1)?;
    sorted.get((last as f64 * share).round() as usize).copied()
}

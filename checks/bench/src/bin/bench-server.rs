//! The server that the benchmarks measure: `bench-server http PORT [FLAGS]`, `bench-server stdio`.
//!
//! | setting | effect |
//! |---|---|
//! | `NTOOLS=n` | adds `n` tools to the list |
//! | `WORKERS=n` | runs `n` worker threads; default: 1 |
//! | `--sse` | answers calls within sessions with event streams |
//! | `--stateless` | disables sessions |
//! | `--short` | ends idle sessions after three seconds |
//! | `--faulty` | keeps sessions and events in stores of which every 50th operation fails |
//! | `--protected` | demands the access token [`bench::TOKEN`] |
//! | `--telemetry` | adds the layer of telemetry without a subscriber; `--unsampled`: with one that refuses each span; `--metrics`: with metrics; `--traced`: with metrics and spans |
//! | `--many` | allows two million sessions and 200,000 connections, and expires none |
//! | `REPORT_TASKS=1` | prints the number of tasks four times per second, as `tasks N` |
//! | `EXIT_AFTER_MS=n` | exits after `n` milliseconds without cleanup, as a killed process does |

#![allow(clippy::print_stderr, reason = "prints its URL")]

use std::error::Error;
use std::net::Ipv4Addr;
use std::time::Duration;

use bench::FaultyStore;
use mcp::auth::{ResourceServer, StaticTokens};
use mcp::http::Serve;
use mcp::http::server::{AnswerMode, Sessions};
use mcp::prelude::*;
use mcp::{MemoryEventStore, MemorySessionStore};
use tokio::net::TcpListener;
use tokio::runtime;

const USAGE: &str = "usage: bench-server http PORT [--sse] [--stateless] [--short] [--faulty] [--many] [--protected] [--telemetry|--unsampled|--metrics|--traced] | stdio";

/// Longer than any measurement.
const NEVER: Duration = Duration::from_secs(24 * 3600);
/// Exit code of a process that ends by `EXIT_AFTER_MS`.
const KILLED: i32 = 9;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let runtime = bench::runtime().enable_all().build()?;
    if std::env::var_os(bench::REPORT_TASKS).is_some() {
        runtime.spawn(report_tasks());
    }
    if let Some(milliseconds) = bench::number(bench::EXIT_AFTER_MS) {
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(milliseconds as u64));
            std::process::exit(KILLED);
        });
    }
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let server = match () {
        () if has("--telemetry") => bench::traced::without_export(),
        () if has("--unsampled") => bench::traced::unsampled(),
        () if has("--metrics") => bench::traced::with_metrics(),
        () if has("--traced") => bench::traced::with_export(),
        () => bench::server(bench::number(bench::NTOOLS).unwrap_or(0)),
    };
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    match &arguments[..] {
        ["stdio"] => runtime.block_on(mcp::serve_stdio(server))?,
        ["http", port, flags @ ..] => runtime.block_on(http(server, port.parse()?, flags))?,
        _ => return Err(USAGE.into()),
    }
    Ok(())
}
/// Prints the number of tasks of this runtime, this one included.
async fn report_tasks() {
    loop {
        let tasks = runtime::Handle::current().metrics().num_alive_tasks();
        eprintln!("tasks {tasks}");
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
}

async fn http(server: Server, port: u16, flags: &[&str]) -> mcp::Result<()> {
    let is_faulty = flags.contains(&"--faulty");
    let sessions = if flags.contains(&"--stateless") {
        Sessions::stateless()
    } else if is_faulty {
        Sessions::shared(FaultyStore::new(MemorySessionStore::new())).max(100_000)
    } else {
        Sessions::in_memory().max(100_000)
    };
    let sessions = if flags.contains(&"--short") {
        sessions.idle_timeout(bench::SHORT_SESSION)
    } else {
        sessions
    };
    let (sessions, connections) = if flags.contains(&"--many") {
        (sessions.max(2_000_000).idle_timeout(NEVER), 200_000)
    } else {
        (sessions, 10_000)
    };
    let mode = if flags.contains(&"--sse") {
        AnswerMode::AlwaysSse
    } else {
        AnswerMode::Auto
    };
    let endpoint = StreamableHttp::new(server)
        .body_limit(64 << 20)
        .sessions(sessions.answer(mode));
    let endpoint = if is_faulty {
        // Small limits, because the events of a session stay when the store fails to forget them.
        let events = MemoryEventStore::new().max_bytes(2 << 20);
        endpoint.events(FaultyStore::new(events.max_age(bench::SHORT_SESSION)))
    } else {
        endpoint
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    let mut serve = Serve::service(endpoint).max_connections(connections);
    if flags.contains(&"--protected") {
        let tokens = StaticTokens::new().token(bench::TOKEN, "ada", ["mcp:use"]);
        let url = format!("http://127.0.0.1:{port}/mcp");
        serve = serve.authorize(ResourceServer::new(&url).static_tokens(tokens));
    }
    Ok(serve.run(listener).await?)
}

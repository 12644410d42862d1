//! The server that the benchmarks measure: `bench-server http PORT [--sse] [--stateless] [--short]`,
//! `bench-server stdio`.
//!
//! | setting | effect |
//! |---|---|
//! | `NTOOLS=n` | adds `n` tools to the list |
//! | `WORKERS=n` | runs `n` worker threads; default: 1 |
//! | `--sse` | answers calls within sessions with event streams |
//! | `--stateless` | disables sessions |
//! | `--short` | ends idle sessions after three seconds |

#![allow(clippy::print_stderr, reason = "prints its URL")]

use std::error::Error;
use std::net::Ipv4Addr;

use mcp::http::Serve;
use mcp::http::server::{AnswerMode, Sessions};
use mcp::prelude::*;
use tokio::runtime;

const USAGE: &str = "usage: bench-server http PORT [--sse] [--stateless] [--short] | stdio";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    // One thread by default, because the benchmarks measure one core.
    let mut runtime = match number("WORKERS") {
        None | Some(1) => runtime::Builder::new_current_thread(),
        Some(workers) => {
            let mut runtime = runtime::Builder::new_multi_thread();
            runtime.worker_threads(workers);
            runtime
        }
    };
    let runtime = runtime.enable_all().build()?;
    let server = bench::server(number("NTOOLS").unwrap_or(0));
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    match &arguments[..] {
        ["stdio"] => runtime.block_on(mcp::serve_stdio(server))?,
        ["http", port, flags @ ..] => runtime.block_on(http(server, port.parse()?, flags))?,
        _ => return Err(USAGE.into()),
    }
    Ok(())
}

fn number(variable: &str) -> Option<usize> {
    std::env::var(variable).ok()?.parse().ok()
}

async fn http(server: Server, port: u16, flags: &[&str]) -> mcp::Result<()> {
    let sessions = match flags.contains(&"--stateless") {
        true => Sessions::stateless(),
        false => Sessions::in_memory().max(100_000),
    };
    let sessions = match flags.contains(&"--short") {
        true => sessions.idle_timeout(bench::SHORT_SESSION),
        false => sessions,
    };
    let mode = match flags.contains(&"--sse") {
        true => AnswerMode::AlwaysSse,
        false => AnswerMode::Auto,
    };
    let endpoint = StreamableHttp::new(server)
        .body_limit(64 << 20)
        .sessions(sessions.answer(mode));
    let serve = Serve::bind((Ipv4Addr::LOCALHOST, port), endpoint).await?;
    eprintln!("listening on http://{}/mcp", serve.local_addr()?);
    serve.shutdown_on(mcp::http::termination()).await?;
    Ok(())
}

//! A client for the official conformance suite: does what a scenario asks of a client.
//!
//! The suite gives the server's URL as the last argument and the scenario in
//! `MCP_CONFORMANCE_SCENARIO`.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the suite keeps what it says"
)]

mod arguments;
mod scenarios;

use std::process::ExitCode;
use std::time::Duration;

/// The suite gives a client thirty seconds.
const LIMIT: Duration = Duration::from_secs(25);

#[tokio::main]
async fn main() -> ExitCode {
    let Some(url) = std::env::args()
        .next_back()
        .filter(|argument| argument.contains("://"))
    else {
        eprintln!("usage: everything-client URL, with MCP_CONFORMANCE_SCENARIO set");
        return ExitCode::FAILURE;
    };
    let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    match tokio::time::timeout(LIMIT, scenarios::run(&scenario, &url)).await {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(error)) => {
            eprintln!("{scenario}: {error}");
            ExitCode::FAILURE
        }
        Err(_) => {
            eprintln!("{scenario}: not done after {} s", LIMIT.as_secs());
            ExitCode::FAILURE
        }
    }
}

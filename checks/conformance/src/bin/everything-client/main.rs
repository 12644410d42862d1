//! A client for the official conformance suite. Each run of the client executes one scenario.
//!
//! The suite passes the URL of the server as the last argument, and the name of the scenario in the
//! environment variable `MCP_CONFORMANCE_SCENARIO`.
//!
//! The scenario `apps`, which the suite does not have, shows the apps of `everything-server`.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the suite stores the output"
)]

mod apps;
mod arguments;
mod authorization;
mod declarations;
mod events;
mod scenarios;

use std::process::ExitCode;
use std::time::Duration;

/// Timeout of a scenario, shorter than the timeout of the suite (30 seconds).
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
    let run = async {
        match scenario.strip_prefix("auth/") {
            Some(scenario) => authorization::run(scenario, &url).await,
            None if scenario == "apps" => apps::run(&url, scenarios::mode()).await,
            None if scenario == "legacy-extensions" => {
                declarations::run(&url, scenarios::mode()).await
            }
            None => scenarios::run(&scenario, &url).await,
        }
    };
    match tokio::time::timeout(LIMIT, run).await {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(error)) => {
            eprintln!("{scenario}: {error}");
            ExitCode::FAILURE
        }
        Err(_) => {
            eprintln!("{scenario}: timeout after {} s", LIMIT.as_secs());
            ExitCode::FAILURE
        }
    }
}

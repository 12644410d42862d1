//! Performance measurements over loopback, run by `cargo xtask bench`.
//!
//! | binary | content |
//! |---|---|
//! | `bench-limit http PORT` | a minimal server on hyper, as the upper limit of performance |
//! | `bench-limit stdio` | the same over a pipe |
//! | `bench-server http PORT`, `bench-server stdio` | the same tools on the SDK |
//! | `bench-load PORT SCENARIO` | a load generator that checks every response |
//! | `bench-load pipe COMMAND` | the same for a child process and its pipes |
//! | `bench-load PORT sessions` | opens sessions and keeps them open |
//! | `bench-load PORT soak` | all kinds of client behavior, including broken connections |
//! | `bench-soak-client URL SECONDS SERVER` | the client of the SDK with servers that die |
//! | `bench-soak-gateway` | gateways with servers and clients that misbehave |
//! | `bench-calls oauth N` | `N` calls of the client of the SDK without a socket, to count instructions |
//! | `bench-streams N` | a server with `N` open GET streams, whose connections are in memory |
//! | `bench-gateway PORT URL` | the gateway of the SDK before a server |
//! | `bench-client URL` | the client of the SDK under load |
//!
//! The directory `rmcp` contains the same server and the same client on rmcp. It is a separate package,
//! so that builds of the workspace do not compile rmcp.
//!
//! All servers have the tools `echo {message}`, `add {a, b}` and `progress {n}`, which reports progress
//! `n` times. The environment variable `NTOOLS` adds [`listed_tools`] to their list.
//!
//! Budgets of allocations are checked by tests: `mcp-types/tests/budget.rs` and
//! `mcp-core/tests/budget.rs`.

use std::error::Error;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::runtime;
use tokio::task::JoinHandle;

pub mod arguments;
pub mod era;
mod faulty_store;
pub mod login;
pub mod random;
pub mod request;
pub mod scenario;
mod server;
pub mod traced;

pub use faulty_store::FaultyStore;
pub use server::server;

/// Error that ends a program.
pub type Failure = Box<dyn Error + Send + Sync>;

/// Idle timeout of sessions with the option `--short`.
pub const SHORT_SESSION: Duration = Duration::from_secs(3);

/// Returns the line of results, as `bench-load` prints it, of a program that measures no latency.
#[must_use]
pub fn summary(requests: u64, seconds: f64, errors: usize, last_error: Option<String>) -> Value {
    json!({
        "requests": requests,
        "seconds": seconds,
        "req_per_s": requests as f64 / seconds,
        "p50_us": null,
        "p99_us": null,
        "bytes": 0,
        "errors": errors,
        "last_error": last_error,
    })
}

/// Adds up the results of tasks: their successes, and the text of each failure.
///
/// # Errors
///
/// Returns the error of a task that has panicked.
pub async fn joined(
    tasks: Vec<JoinHandle<(u64, Vec<String>)>>,
) -> Result<(u64, usize, Option<String>), Failure> {
    let (mut requests, mut errors, mut last_error) = (0, 0, None);
    for task in tasks {
        let (done, failures) = task.await?;
        requests += done;
        errors += failures.len();
        last_error = failures.into_iter().last().or(last_error);
    }
    Ok((requests, errors, last_error))
}

/// Environment variable that makes `bench-server` report its tasks on stderr, as `tasks N`.
pub const REPORT_TASKS: &str = "REPORT_TASKS";

/// Environment variable with the milliseconds after which `bench-server stdio` exits without cleanup.
pub const EXIT_AFTER_MS: &str = "EXIT_AFTER_MS";

/// Returns the number in an environment variable.
#[must_use]
pub fn number(variable: &str) -> Option<usize> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Returns the builder of a server's runtime. One thread, because the benchmarks measure one core, unless
/// the variable `WORKERS` says more.
#[must_use]
pub fn runtime() -> runtime::Builder {
    match number("WORKERS") {
        None | Some(1) => runtime::Builder::new_current_thread(),
        Some(workers) => {
            let mut runtime = runtime::Builder::new_multi_thread();
            runtime.worker_threads(workers);
            runtime
        }
    }
}

/// The access token of a protected server, as long as a JSON Web Token.
pub const TOKEN: &str = include_str!("token.txt");

/// The path of the MCP endpoint.
pub const PATH: &str = "/mcp";

/// Environment variable with the number of additional tools in the list.
pub const NTOOLS: &str = "NTOOLS";

/// Returns additional tools that make the list of a server longer.
#[must_use]
pub fn listed_tools(count: usize) -> Vec<Value> {
    let tool = |number: usize| {
        json!({
            "name": format!("tool_{number}"),
            "description": "One of many tools, listed to see what a long list costs.",
            "inputSchema": {
                "type": "object",
                "properties": {"message": {"type": "string"}},
                "required": ["message"],
            },
        })
    };
    (0..count).map(tool).collect()
}

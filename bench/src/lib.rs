//! Speed measurements over loopback, run together by `cargo xtask bench`.
//!
//! | binary | what it is |
//! |---|---|
//! | `bench-limit http PORT` | a server on bare hyper that does only what no server can leave out |
//! | `bench-limit stdio` | the same over a pipe, line by line |
//! | `bench-server http PORT`, `bench-server stdio` | the same tools on the SDK |
//! | `bench-load PORT SCENARIO` | a load generator that checks every answer |
//! | `bench-load pipe COMMAND` | the same for a child process and its pipes |
//! | `bench-load PORT sessions` | opens sessions and holds them |
//! | `bench-load PORT soak` | does everything that clients do, the rude ones among them |
//! | `bench-calls call N` | so many calls without a socket, for counting instructions |
//! | `bench-client URL` | the SDK's client, calling as fast as it can |
//!
//! The folder `rmcp` has the same server and the same client on rmcp, in a package of its own, so
//! that nobody who builds or tests the project pays for it.
//!
//! Both servers offer `echo {message}`, `add {a, b}` and `progress {n}`, which reports progress `n`
//! times, and list [`listed_tools`] more tools when the environment variable `NTOOLS` says so.
//!
//! Allocations have budgets, held by tests rather than measured here: `mcp-types/tests/budget.rs`
//! (parsing the envelope of a `tools/call`: 3, writing a text result: 0 beside its buffer) and
//! `mcp-core/tests/budget.rs` (reading a whole modern `tools/call`: 9, writing its answer: 1).

use std::time::Duration;

use serde_json::{Value, json};

pub mod arguments;
pub mod era;
pub mod scenario;
mod server;

pub use server::server;

/// How long a session lives in which nothing happens, where the command line says `--short`.
pub const SHORT_SESSION: Duration = Duration::from_secs(3);

/// The path that both servers serve.
pub const PATH: &str = "/mcp";

/// The environment variable with the number of tools that are listed beside the three.
pub const NTOOLS: &str = "NTOOLS";

/// The tools that a server lists only so that its list is long.
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

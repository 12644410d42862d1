//! Load on a cluster of `everything-server` processes behind a proxy without stickiness. It starts the
//! processes and Redis itself, and prints JSON.
//!
//! | command | content |
//! |---|---|
//! | `cluster-load soak [--sessions N] [--seconds S] [--kill-every S] [--rate R]` | sessions with elicitation, progress, resumption and subscriptions, while nodes are killed and Redis restarts |
//! | `cluster-load faults` | sessions that call, while a node is cut off from Redis or hangs, and while Redis hangs, ends and restarts: how long calls take, and whether one hangs |
//! | `cluster-load calls [--seconds S]` | calls per second, latency and Redis commands per call with one to three nodes |

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line tool"
)]

mod calls;
mod faults;
mod options;
mod scenarios;
mod soak;
mod worker;

use options::{Failure, Options};

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next().unwrap_or_default();
    let options = Options::new(arguments);
    match command.as_str() {
        "soak" => soak::run(&options).await,
        "faults" => scenarios::run().await,
        "calls" => calls::run(&options).await,
        _ => Err("usage: cluster-load soak|faults|calls [OPTIONS]".into()),
    }
}

//! A stdio server, which its client starts:
//! `cargo run -p examples --bin stdio_client target/debug/stdio_server`.

#![allow(
    clippy::print_stdout,
    reason = "standard output is redirected to standard error"
)]

use std::time::Duration;

use mcp::prelude::*;

struct Bakery;

#[mcp::server]
impl Bakery {
    /// Bake some bread for the given time.
    #[tool]
    async fn bake(&self, seconds: f64, progress: Progress) -> String {
        // Written to standard error, so that the protocol stream is not damaged.
        println!("baking");
        progress.report(0.5, 1.0, "in the oven").await;
        tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
        format!("bread after {seconds} seconds")
    }
}

#[tokio::main]
async fn main() -> mcp::Result<()> {
    mcp::serve_stdio(Bakery).await
}

//! A server that is started by its client and speaks over standard input and output:
//! `cargo run -p examples --bin stdio_client target/debug/stdio_server` calls it.

#![allow(clippy::print_stdout, reason = "printing is harmless here")]

use std::time::Duration;

use mcp::prelude::*;

struct Bakery;

#[mcp::server]
impl Bakery {
    /// Bake some bread, as long as you like.
    #[tool]
    async fn bake(&self, seconds: f64, progress: Progress) -> String {
        // The client never sees this: it goes to the standard error.
        println!("somebody wants bread");
        progress.report(0.5, 1.0, "in the oven").await;
        tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
        format!("bread after {seconds} seconds")
    }
}

#[tokio::main]
async fn main() -> mcp::Result<()> {
    mcp::serve_stdio(Bakery).await
}

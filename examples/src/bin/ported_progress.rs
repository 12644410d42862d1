//! The example `progress_demo` of rmcp: a tool reports its progress, over standard input and output or
//! over HTTP.
//!
//! `cargo run -p examples --bin ported_progress [stdio|http|all]`

#![allow(clippy::print_stderr, reason = "a command line program")]

use std::time::Duration;

use mcp::prelude::*;

const ADDRESS: &str = "127.0.0.1:8001";
const RECORDS: &str = "1111122222333334444455555";

struct Processor;

#[mcp::server(instructions = "Reports the progress of long calls.")]
impl Processor {
    /// Processes a stream of records.
    #[tool(read_only)]
    async fn stream_processor(progress: Progress) -> String {
        let records = RECORDS.as_bytes().chunks(5);
        let mut done = 0;
        for record in records.map(String::from_utf8_lossy) {
            done += 1;
            progress.report(f64::from(done), 5.0, record).await;
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        format!("{done} records are processed")
    }
}

#[tokio::main]
async fn main() -> mcp::Result<()> {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .init();
    match std::env::args().nth(1).as_deref() {
        None | Some("stdio") => mcp::serve_stdio(Processor).await,
        Some("http") => mcp::serve_http(Processor, ADDRESS).await,
        Some("all") => {
            tokio::try_join!(
                mcp::serve_stdio(Processor),
                mcp::serve_http(Processor, ADDRESS)
            )?;
            Ok(())
        }
        Some(other) => {
            eprintln!("unknown transport {other:?}: expected stdio, http or all");
            std::process::exit(1);
        }
    }
}

//! The server that is measured: `bench-server http PORT`.
//!
//! `NTOOLS=n` adds n tools to the list.

#![allow(clippy::print_stderr, reason = "it tells its URL")]

use std::net::Ipv4Addr;

use mcp::http::Serve;
use mcp::prelude::*;

/// One thread: what is measured is one core.
#[tokio::main(flavor = "current_thread")]
async fn main() -> mcp::Result<()> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let port = match &arguments[..] {
        [transport, port] if transport == "http" => port.parse().map_err(std::io::Error::other)?,
        _ => return Err(std::io::Error::other("usage: bench-server http PORT").into()),
    };
    let listed = std::env::var("NTOOLS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(0);
    let endpoint = StreamableHttp::new(bench::server(listed)).body_limit(64 << 20);
    let serve = Serve::bind((Ipv4Addr::LOCALHOST, port), endpoint).await?;
    eprintln!("listening on http://{}/mcp", serve.local_addr()?);
    serve.shutdown_on(mcp::http::termination()).await?;
    Ok(())
}

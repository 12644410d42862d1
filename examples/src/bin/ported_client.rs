//! The client example `streamable_http` of rmcp: lists the tools of a server, and calls one.
//!
//! `cargo run -p examples --bin ported_client [URL]`, with `ported_counter` as the server

#![allow(clippy::print_stdout, reason = "a command line program")]

use mcp::prelude::*;

#[tokio::main]
async fn main() -> mcp::Result<()> {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .init();
    let url = std::env::args().nth(1);
    let url = url.unwrap_or_else(|| "http://127.0.0.1:8000/mcp".to_owned());
    let client = Client::builder()
        .identity("test client", "0.0.1")
        .connect(url)
        .await?;
    println!("server: {:?}", client.server_info());
    println!("tools: {:#?}", client.list_tools().await?);
    let result = client.call("increment", ()).await?;
    println!("result: {}", result.text());
    client.close().await?;
    Ok(())
}

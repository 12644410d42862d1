//! A client that lists the tools of an HTTP server, or calls one.
//!
//! `cargo run -p examples --bin client URL [TOOL [ARGUMENTS]]`, with the arguments as a JSON object.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line program"
)]

use std::io::{Error, ErrorKind};

use mcp::prelude::*;
use serde_json::{Map, Value};

#[tokio::main]
async fn main() -> mcp::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().ok_or(Error::new(
        ErrorKind::InvalidInput,
        "usage: client URL [TOOL [ARGUMENTS]]",
    ))?;
    let client = Client::connect(url).await?;

    let Some(tool) = arguments.next() else {
        for tool in client.list_tools().await? {
            println!(
                "{}: {}",
                tool.name,
                tool.description.as_deref().unwrap_or_default()
            );
        }
        return Ok(());
    };
    let input = arguments.next().unwrap_or_else(|| "{}".to_owned());
    let input: Map<String, Value> = serde_json::from_str(&input).map_err(Error::other)?;
    let result = client
        .call(&tool, input)
        .on_progress(|p| eprintln!("{p:?}"))
        .await?;
    println!("{}", result.text());
    Ok(())
}

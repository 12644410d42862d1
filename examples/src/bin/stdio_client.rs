//! A client that starts a server as a child process, lists its tools, and calls one.
//!
//! `cargo run -p examples --bin stdio_client PROGRAM [ARGUMENTS…] [-- TOOL [ARGUMENTS]]`, with the
//! the tool's arguments as a JSON object.

#![allow(clippy::print_stdout, reason = "a command line program")]

use std::io::{Error, ErrorKind};
use std::process::Command;

use mcp::prelude::*;
use serde_json::{Map, Value};

#[tokio::main]
async fn main() -> mcp::Result<()> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let mut parts = given.split(|part| part == "--");
    let Some([program, arguments @ ..]) = parts.next() else {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "usage: stdio_client PROGRAM [ARGUMENTS…] [-- TOOL [ARGUMENTS]]",
        )
        .into());
    };
    let client = Client::connect(Command::new(program).args(arguments)).await?;

    for tool in client.list_tools().await? {
        println!(
            "{}: {}",
            tool.name,
            tool.description.as_deref().unwrap_or_default()
        );
    }
    if let Some([tool, input @ ..]) = parts.next() {
        let input = input.first().map_or("{}", String::as_str);
        let input: Map<String, Value> = serde_json::from_str(input).map_err(Error::other)?;
        println!("{}", client.call(tool, input).await?.text());
    }
    client.close().await?;
    Ok(())
}

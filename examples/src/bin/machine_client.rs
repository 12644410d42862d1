//! A client without a user, which logs in with a client secret.
//!
//! `CLIENT_ID=… CLIENT_SECRET=… cargo run -p examples --bin machine_client URL`

#![allow(clippy::print_stdout, reason = "a command line program")]

use std::io::{Error, ErrorKind};

use mcp::auth::{OAuth, Secret};
use mcp::prelude::*;

#[tokio::main]
async fn main() -> mcp::Result<()> {
    let url = std::env::args().nth(1).ok_or(Error::new(
        ErrorKind::InvalidInput,
        "usage: machine_client URL",
    ))?;
    let id = Secret::from_env("CLIENT_ID")?;
    let secret = Secret::from_env("CLIENT_SECRET")?;
    let client = Client::builder()
        .identity("machine-client", "1.0.0")
        .oauth(OAuth::client_credentials(id.expose(), secret))
        .connect(url)
        .await?;
    for tool in client.list_tools().await? {
        println!(
            "{}: {}",
            tool.name,
            tool.description.as_deref().unwrap_or_default()
        );
    }
    client.close().await?;
    Ok(())
}

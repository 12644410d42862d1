//! A client that logs in with the browser, and keeps its tokens in a folder.
//!
//! `cargo run -p examples --bin oauth_client URL [logout]`

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line program"
)]

use std::io::{Error, ErrorKind};

use futures_util::StreamExt as _;
use mcp::auth::{AuthEvent, FileStore, OAuth};
use mcp::prelude::*;

#[tokio::main]
async fn main() -> mcp::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().ok_or(Error::new(
        ErrorKind::InvalidInput,
        "usage: oauth_client URL [logout]",
    ))?;
    let store = FileStore::new(std::env::temp_dir().join("mcp-oauth-client"));
    let oauth = OAuth::interactive("MCP example").store(store);

    let mut events = oauth.events();
    tokio::spawn(async move {
        while let Some(event) = events.next().await {
            match event {
                AuthEvent::LoginStarted { page, .. } => eprintln!("log in at {page}"),
                other => eprintln!("{other:?}"),
            }
        }
    });

    if arguments.next().as_deref() == Some("logout") {
        oauth.authorizer(&url)?.logout().await?;
        return Ok(());
    }
    let client = Client::builder().oauth(oauth).connect(&url).await?;
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

//! The client example `oauth_client` of rmcp: logs in where the server demands it, and lists tools and
//! prompts.
//!
//! `cargo run -p examples --bin ported_oauth_client [URL [CLIENT_METADATA_URL]]`

#![allow(clippy::print_stdout, reason = "a command line program")]

use mcp::auth::{LoopbackRedirect, OAuth};
use mcp::prelude::*;

#[tokio::main]
async fn main() -> mcp::Result<()> {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .init();
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next();
    let url = url.unwrap_or_else(|| "http://127.0.0.1:3000/mcp".to_owned());

    let redirect = LoopbackRedirect::new().open_with(|page| async move {
        println!("open this page in your browser: {page}");
        Ok(())
    });
    let mut oauth = OAuth::interactive("Test MCP client").redirect(redirect);
    if let Some(metadata) = arguments.next() {
        oauth = oauth.client_metadata_url(metadata);
    }
    let client = Client::builder().oauth(oauth).connect(url).await?;

    for tool in client.list_tools().await? {
        let description = tool.description.as_deref().unwrap_or_default();
        println!("tool {}: {description}", tool.name);
    }
    match client.list_prompts().await {
        Ok(prompts) => println!("{} prompts", prompts.len()),
        Err(error) => println!("{error}"),
    }
    client.close().await?;
    Ok(())
}

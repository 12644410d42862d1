//! A server and a client in one program: lists the tools, calls one with progress, and shows a failed
//! call.
//!
//! `cargo run -p examples --bin quickstart`

#![allow(clippy::print_stdout, reason = "example output")]

use std::time::Duration;

use mcp::prelude::*;
use serde_json::json;
use tokio::net::TcpListener;

struct Kitchen;

/// A small kitchen.
#[mcp::server]
impl Kitchen {
    /// Bake some bread.
    #[tool]
    async fn bake(
        &self,
        /** number of loaves */
        #[arg(range = 1..=10)]
        loaves: u32,
        progress: Progress,
    ) -> String {
        for done in 1..=loaves {
            tokio::time::sleep(Duration::from_millis(50)).await;
            progress
                .report(done.into(), loaves.into(), format!("loaf {done}"))
                .await;
        }
        format!("{loaves} loaves of bread, still warm")
    }

    /// Split a bill.
    #[tool(read_only)]
    fn split(
        &self,
        /** in cents */
        bill: u32,
        guests: u32,
    ) -> Result<u32, ToolError> {
        bill.checked_div(guests)
            .ok_or(ToolError::new("the number of guests must not be zero"))
    }
}

#[tokio::main]
async fn main() -> mcp::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    tokio::spawn(mcp::serve_http(Kitchen, listener));

    let client = Client::connect(&url).await?;
    println!("connected to {url}, protocol {}", client.protocol_version());

    for tool in client.list_tools().await? {
        println!(
            "tool {}: {}",
            tool.name,
            tool.description.as_deref().unwrap_or_default()
        );
    }

    let bread = client
        .call("bake", json!({"loaves": 3}))
        .on_progress(|p| println!("  {} of {}", p.progress, p.total.unwrap_or_default()))
        .await?;
    println!("bake: {}", bread.text());

    let share: u32 = client
        .call("split", json!({"bill": 9000, "guests": 4}))
        .await?
        .parse()?;
    println!("split: {share} cents each");

    let failed = client
        .call("split", json!({"bill": 9000, "guests": 0}))
        .await?;
    println!(
        "split among 0 guests: {} (is_error: {})",
        failed.text(),
        failed.is_error()
    );
    Ok(())
}

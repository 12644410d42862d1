//! An extension of the protocol on both sides: `src/budget.rs` defines it.
//!
//! `cargo run -p examples --bin extension`

#![allow(clippy::print_stdout, reason = "example output")]

use examples::budget::{Budget, GetBudget};
use mcp::prelude::*;
use tokio::net::TcpListener;

struct Press;

#[mcp::server]
impl Press {
    /// Print a page.
    #[tool]
    fn print(&self) -> &'static str {
        "printed"
    }
}

#[tokio::main]
async fn main() -> mcp::Result<()> {
    let server = Server::of(Press).extension(Budget::of_server(1));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    tokio::spawn(mcp::serve_http(server, listener));

    let (budget, mut left) = Budget::of_client(3);
    let client = Client::builder().extension(budget).connect(&url).await?;
    let budget = client.extension::<Budget>()?;
    println!(
        "the server starts with {} credits",
        budget.settings().credits
    );

    println!("print: {}", client.call("print", ()).await?.text());
    let is_changed = left.changed().await.is_ok();
    println!("{} credits are left ({is_changed})", *left.borrow());
    if let Err(error) = client.call("print", ()).await {
        println!("{error}");
    }
    println!("top_up: {}", client.call("top_up", ()).await?.text());
    let credits = budget.request::<GetBudget>(&()).await?.credits;
    println!("{credits} credits are left");
    Ok(())
}

//! A server with a card, and a client that finds it by its domain's name.
//!
//! `cargo run -p examples --bin server_card`

#![allow(clippy::print_stdout, reason = "a command line program")]

use mcp::http::Serve;
use mcp::http::client::discover_domain;
use mcp::prelude::*;
use mcp::types::ext::server_card::{CardRemote, ServerCard};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let domain = listener.local_addr()?.to_string();
    let card = ServerCard::new("com.example/clock", "1.0.0", "The time")
        .title("Clock")
        .remote(CardRemote::streamable_http(format!("http://{domain}/mcp")));
    let server = Server::new("clock", "1.0.0").tool(Tool::new("now").handler(|| "half past"));
    let serving = tokio::spawn(Serve::new(server).card(card).run(listener));

    for found in discover_domain(&domain).await? {
        println!("{found}");
        for remote in found.card?.remotes {
            let client = Client::connect(remote.url).await?;
            // The card is advice: the name comes from the server.
            let name = client.server_info().map(|info| info.name);
            println!("connected to {}", name.unwrap_or_default());
            client.close().await?;
        }
    }
    serving.abort();
    Ok(())
}

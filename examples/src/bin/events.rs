//! A server that publishes events, and a client that streams them (draft extension).
//!
//! `cargo run -p examples --bin events`

#![allow(clippy::print_stdout, reason = "a command line program")]

use std::error::Error;

use futures_util::StreamExt as _;
use mcp::events::{EventClient, EventQuery, EventType, EventUpdate, Events};
use mcp::http::Serve;
use mcp::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;

#[derive(Serialize, Deserialize, JsonSchema)]
struct OrderPlaced {
    order: u64,
    amount: u64,
}

#[derive(Deserialize, JsonSchema)]
struct AtLeast {
    amount: u64,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    let placed = EventType::<OrderPlaced>::new("order.placed")
        .description("A customer has placed an order")
        .poll()
        .push()
        .filter(|wanted: &AtLeast, order: &OrderPlaced, _| order.amount >= wanted.amount);
    let events = Events::new().event(placed);
    let server = Server::new("shop", "1.0.0").extension(events.clone());
    tokio::spawn(Serve::new(server).run(listener));

    let client = Client::builder()
        .extension(Events::new())
        .connect(url)
        .await?;
    let client = EventClient::new(&client)?;
    for event in client.list().await? {
        println!("{}: {}", event.name, event.description.unwrap_or_default());
    }
    let query = EventQuery::new("order.placed").argument("amount", 100);
    // The current position: nothing between the two calls is lost.
    let now = client.poll(query.clone()).await?.cursor.unwrap_or_default();
    let mut stream = client.stream(query.cursor(now));
    for (order, amount) in [(1, 20), (2, 500), (3, 120)] {
        events.publish(&OrderPlaced { order, amount }).await?;
    }
    for _ in 0..2 {
        if let Some(EventUpdate::Event(event)) = stream.next().await.transpose()? {
            println!("order {} of {}", event.data["order"], event.data["amount"]);
        }
    }
    Ok(())
}

//! A client that answers what a server asks for, one way for all revisions: a form, a URL, the
//! language model, the roots. Client and server are in this process; with a URL as its argument it
//! talks to a server elsewhere.
//!
//! `cargo run -p examples --bin client_handlers [URL]`

#![allow(clippy::print_stdout, reason = "it is a command line program")]

use mcp::prelude::*;
use mcp::{Ask, Elicit, InProcess};
use serde_json::json;

/// What the server wants to know.
#[derive(Elicit)]
struct Guests {
    /// How many guests
    #[elicit(range = 1..=12, default = 2)]
    count: u32,
}

struct Restaurant;

#[mcp::server]
impl Restaurant {
    /// Book a table.
    #[tool]
    async fn book(&self, day: String, ask: Ask) -> Result<String, ToolError> {
        Ok(
            match ask.form::<Guests>("guests", "Who comes?").await?.accepted() {
                Some(guests) => format!("a table for {} on {day}", guests.count),
                None => "no table".to_owned(),
            },
        )
    }
}

#[tokio::main]
async fn main() -> mcp::Result<()> {
    let builder = Client::builder()
        .identity("client_handlers", "1.0.0")
        .on_elicit(|form: ElicitRequest| async move {
            println!("{} asks: {}", form.asker.server, form.message());
            // A program with a window shows the fields; here the defaults have to do.
            form.accept(json!({}))
        })
        .on_elicit_url(|visit: UrlRequest| async move {
            println!("{} wants {} to be visited", visit.asker.server, visit.url());
            ElicitResult::decline()
        })
        .on_sample(|ask: SampleRequest| async move {
            let words = ask.params.messages.len();
            Ok::<_, Rejected>(CreateMessageResult::new(
                "parrot",
                format!("{words} messages"),
            ))
        })
        .roots(["file:///home/ada/project"]);

    let client = match std::env::args().nth(1) {
        Some(url) => builder.connect(url).await?,
        None => builder.connect(InProcess(Server::of(Restaurant))).await?,
    };
    println!("{}", client.negotiation());

    let booked = client.call("book", json!({"day": "Friday"})).await?;
    println!("by handlers: {}", booked.text());

    // The same call, answered where it is made.
    let mut turn = client
        .call("book", json!({"day": "Sunday"}))
        .manual()
        .await?;
    let booked = loop {
        turn = match turn {
            Turn::Done(result) => break result,
            Turn::Asks(asks) => {
                let keys: Vec<_> = asks.requests().keys().cloned().collect();
                let answers = keys.into_iter().map(|key| (key, ElicitResult::decline()));
                asks.answer(answers).await?
            }
        }
    };
    println!("by hand: {}", booked.text());
    Ok(())
}

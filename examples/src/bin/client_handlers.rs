//! A client with handlers for elicitation (forms and URLs), sampling and roots. The same handlers work
//! with every protocol revision. The server is in the same process, unless a URL is passed.
//!
//! `cargo run -p examples --bin client_handlers [URL]`

#![allow(clippy::print_stdout, reason = "a command line program")]

use mcp::prelude::*;
use mcp::{Ask, Elicit, InProcess};
use serde_json::json;

/// The form for the user.
#[derive(Elicit)]
struct Guests {
    /// Number of guests
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
            match ask
                .form::<Guests>("guests", "How many guests?")
                .await?
                .accepted()
            {
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
            println!("{} requests: {}", form.asker.server, form.message());
            // A graphical program shows the fields; this one accepts the defaults.
            form.accept(json!({}))
        })
        .on_elicit_url(|visit: UrlRequest| async move {
            println!("{} requests a visit of {}", visit.asker.server, visit.url());
            ElicitResult::decline()
        })
        .on_sample(|request: SampleRequest| async move {
            let count = request.params.messages.len();
            Ok::<_, Rejected>(CreateMessageResult::new(
                "parrot",
                format!("{count} messages"),
            ))
        })
        .roots(["file:///home/ada/project"]);

    let client = match std::env::args().nth(1) {
        Some(url) => builder.connect(url).await?,
        None => builder.connect(InProcess(Server::of(Restaurant))).await?,
    };
    println!("{}", client.negotiation());

    let booked = client.call("book", json!({"day": "Friday"})).await?;
    println!("with handlers: {}", booked.text());

    // The same call without handlers: the caller answers the requests.
    let mut step = client.call("book", json!({"day": "Sunday"})).step().await?;
    while let Step::InputRequired(input) = step {
        let keys: Vec<_> = input.requests().keys().cloned().collect();
        let answers = keys.into_iter().map(|key| (key, ElicitResult::decline()));
        step = input.answer(answers).await?;
    }
    if let Step::Done(booked) = step {
        println!("with `step`: {}", booked.text());
    }
    Ok(())
}

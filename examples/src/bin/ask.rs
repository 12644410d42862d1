//! A tool that uses elicitation, sampling and roots.
//!
//! At each request for input, the server returns the request to the client, and the client repeats the
//! call with the answer. The handler therefore runs again from its beginning each time. Side effects
//! that must happen only once are in `ask.once`.
//!
//! `cargo run -p examples --bin ask`

#![allow(clippy::print_stdout, reason = "example output")]

use mcp::prelude::*;
use mcp::types::{ClientCapabilities, Root};
use serde_json::json;
use tokio::net::TcpListener;

/// The form for the user.
#[derive(Elicit)]
struct Order {
    /// The text on the cake
    #[elicit(title = "Text", length = 1..=20)]
    text: String,
    #[elicit(range = 1..=5, default = 2)]
    layers: u8,
    #[elicit(default = Filling::Cream)]
    filling: Option<Filling>,
}

#[derive(Debug, Elicit)]
enum Filling {
    /// Whipped cream
    Cream,
    #[elicit(title = "Raspberries of the season")]
    Berries,
}

struct Bakery;

/// Cakes to order.
#[mcp::server]
impl Bakery {
    /// Bake a cake.
    #[tool]
    async fn bake_cake(&self, guest: String, ask: Ask) -> Result<String, ToolError> {
        println!("  (the handler runs)");
        // Reject clients without these capabilities before the first side effect.
        let needed = ClientCapabilities::default().with_elicitation();
        ask.require(&needed.with_sampling().with_roots())?;
        let number = ask.once("number", reserve_oven).await?;
        let order = match ask
            .form::<Order>("order", format!("A cake for {guest}?"))
            .await?
        {
            Answer::Accept(order) => order,
            Answer::Decline | Answer::Cancel => return Ok(format!("order {number} is closed")),
        };
        let poem = Sampling::user(format!("A line about {}", order.text)).max_tokens(50);
        let (poem, roots) = ask
            .all((ask.sample("poem", poem), ask.roots("roots")))
            .await?;
        let recipes = roots.first().map_or("memory", |root| &root.uri);
        Ok(format!(
            "order {number}: {} layers with {:?}, saying {:?}, from {recipes}; {}",
            order.layers,
            order.filling.unwrap_or(Filling::Cream),
            order.text,
            poem.content.text(),
        ))
    }
}

/// A side effect that must happen only once.
async fn reserve_oven() -> u32 {
    println!("  (an oven is reserved)");
    1
}

#[tokio::main]
async fn main() -> mcp::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    tokio::spawn(mcp::serve_http(Bakery, listener));

    let client = Client::builder()
        .on_elicit(|form: ElicitRequest| async move {
            println!("elicitation: {}", form.message());
            for (name, field) in form.schema().fields() {
                println!("  {}", field.title().unwrap_or(name));
            }
            form.accept(json!({"text": "Happy birthday", "filling": "Berries"}))
        })
        .on_sample(|request: SampleRequest| async move {
            let message = request.params.messages.first();
            println!(
                "sampling: {}",
                message.map_or_else(String::new, |message| message.content.text())
            );
            CreateMessageResult::new("poet", "One more candle, one more year")
        })
        .roots([Root::from("file:///home/baker/recipes")])
        .connect(&url)
        .await?;
    let cake = client.call("bake_cake", json!({"guest": "Ada"})).await?;
    println!("{}", cake.text());

    let without_handlers = Client::connect(&url).await?;
    match without_handlers
        .call("bake_cake", json!({"guest": "Bob"}))
        .await
    {
        Ok(cake) => println!("{}", cake.text()),
        Err(error) => println!("refused: {error}"),
    }
    Ok(())
}

//! Tools that come and go while a server runs, and a client that hears of it.
//!
//! `cargo run -p examples --bin dynamic`

#![allow(clippy::print_stdout, reason = "it shows what happens")]

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use futures_util::TryStreamExt as _;
use mcp::ToolRoute;
use mcp::prelude::*;
use tokio::net::TcpListener;

/// A house, as far as it is always there.
#[derive(Clone, Default)]
struct House {
    degrees: Arc<AtomicI32>,
}

/// What is plugged in at home.
#[mcp::server]
impl House {
    /// How warm it is.
    #[resource("house://temperature", mime = "text/plain")]
    fn temperature(&self) -> String {
        format!("{} degrees", self.degrees.load(Ordering::Relaxed))
    }
}

/// The tool that a lamp brings along.
fn lamp(room: &'static str) -> ToolRoute {
    Tool::new(format!("{room}_lamp"))
        .describe(format!("Switch the lamp in the {room}"))
        .handler(move || format!("the lamp in the {room} is on"))
}

async fn print_tools(client: &Client) -> mcp::Result<()> {
    let tools = client.list_all_tools().await?;
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    println!("tools: {}", names.join(", "));
    Ok(())
}

#[tokio::main]
async fn main() -> mcp::Result<()> {
    let house = House::default();
    let server = Server::of(house.clone());
    // Handles are taken before the transport takes the server. They are cheap to clone, and good
    // for any task: here they are what sees lamps come and go.
    let (tools, notify) = (server.tools(), server.notify());
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    tokio::spawn(mcp::serve_http(server, listener));

    let client = Client::connect(&url).await?;
    let mut changes = client
        .subscribe(["house://temperature"])
        .tools_changed()
        .await?;
    print_tools(&client).await?;

    tools.add(lamp("kitchen")).map_err(std::io::Error::other)?;
    println!("told: {:?}", changes.try_next().await?);
    print_tools(&client).await?;
    println!("{}", client.call("kitchen_lamp", ()).await?.text());

    // Several at once are one change.
    let more = ["hall", "attic"].map(lamp);
    tools.extend(more).map_err(std::io::Error::other)?;
    println!("told: {:?}", changes.try_next().await?);
    print_tools(&client).await?;

    // A name is given once; nothing is lost when it is given again.
    if let Err(error) = tools.add(lamp("hall")) {
        println!("{error}");
    }

    // Out of order for a while; `enable` brings it back to its place.
    tools.disable("kitchen_lamp");
    println!("told: {:?}", changes.try_next().await?);
    print_tools(&client).await?;
    if let Err(error) = client.call("kitchen_lamp", ()).await {
        println!("{error}");
    }

    house.degrees.store(21, Ordering::Relaxed);
    notify.resource_updated("house://temperature");
    println!("told: {:?}", changes.try_next().await?);
    let read = client.read_resource("house://temperature").await?;
    println!("{}", serde_json::json!(read.contents));
    Ok(())
}

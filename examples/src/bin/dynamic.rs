//! Tools that are added and removed while a server runs, and a client that subscribes to changes.
//!
//! `cargo run -p examples --bin dynamic`

#![allow(clippy::print_stdout, reason = "example output")]

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use futures_util::TryStreamExt as _;
use mcp::ToolRoute;
use mcp::prelude::*;
use tokio::net::TcpListener;

/// The server's fixed part.
#[derive(Clone, Default)]
struct House {
    degrees: Arc<AtomicI32>,
}

/// A house's devices.
#[mcp::server]
impl House {
    /// The current temperature.
    #[resource("house://temperature", mime_type = "text/plain")]
    fn temperature(&self) -> String {
        format!("{} degrees", self.degrees.load(Ordering::Relaxed))
    }
}

/// A lamp's tool.
fn lamp(room: &'static str) -> ToolRoute {
    Tool::new(format!("{room}_lamp"))
        .description(format!("Switch the lamp in the {room}"))
        .handler(move || format!("the lamp in the {room} is on"))
}

async fn print_tools(client: &Client) -> mcp::Result<()> {
    let tools = client.list_tools().await?;
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    println!("tools: {}", names.join(", "));
    Ok(())
}

#[tokio::main]
async fn main() -> mcp::Result<()> {
    let house = House::default();
    let server = Server::of(house.clone());
    // Create handles before the transport takes the server. They are cheap to clone and
    // can be used from any task.
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
    println!("change: {:?}", changes.try_next().await?);
    print_tools(&client).await?;
    println!("{}", client.call("kitchen_lamp", ()).await?.text());

    // Several tools at once are one change.
    let more = ["hall", "attic"].map(lamp);
    tools.extend(more).map_err(std::io::Error::other)?;
    println!("change: {:?}", changes.try_next().await?);
    print_tools(&client).await?;

    // A second tool with the same name is an error.
    if let Err(error) = tools.add(lamp("hall")) {
        println!("{error}");
    }

    // A disabled tool is not listed; `enable` restores it at its position.
    tools.disable("kitchen_lamp");
    println!("change: {:?}", changes.try_next().await?);
    print_tools(&client).await?;
    if let Err(error) = client.call("kitchen_lamp", ()).await {
        println!("{error}");
    }

    house.degrees.store(21, Ordering::Relaxed);
    notify.resource_updated("house://temperature");
    println!("change: {:?}", changes.try_next().await?);
    let read = client.read_resource("house://temperature").await?;
    println!("{}", serde_json::json!(read.contents));
    Ok(())
}

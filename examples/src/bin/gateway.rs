//! Many servers behind one: `cargo run -p examples --bin gateway -- NAME=URL…` serves the tools, prompts and
//! resources of these servers at <http://127.0.0.1:8000/mcp>. Without arguments, it serves two servers of
//! this program.

#![allow(clippy::print_stdout, reason = "a command line program")]

use mcp::InProcess;
use mcp::gateway::{Gateway, GatewayServer};
use mcp::prelude::*;

/// A server in this program.
fn clock(zone: &'static str) -> Server {
    let tool = Tool::new("zone").description("The time zone of this clock");
    Server::new("clock", "1.0.0").tool(tool.handler(move || zone))
}

#[tokio::main]
async fn main() -> mcp::Result<()> {
    let mut gateway = Gateway::new("gateway", "1.0.0");
    let mut servers = std::env::args().skip(1).peekable();
    if servers.peek().is_none() {
        gateway = gateway
            .server(GatewayServer::new("rome", |client| {
                client.connect(InProcess(clock("CET")))
            }))
            .server(GatewayServer::new("lima", |client| {
                client.connect(InProcess(clock("PET")))
            }));
    }
    for server in servers {
        let Some((name, url)) = server.split_once('=') else {
            println!("{server:?} is not NAME=URL");
            continue;
        };
        let url = url.to_owned();
        gateway = gateway.server(GatewayServer::new(name, move |client| {
            client.connect(url.clone())
        }));
    }
    let opened = gateway.connect().await?;
    for (server, health) in opened.group.health() {
        println!("{server}: {health}");
    }
    println!("http://127.0.0.1:8000/mcp");
    mcp::serve_http(opened.server, "127.0.0.1:8000").await
}

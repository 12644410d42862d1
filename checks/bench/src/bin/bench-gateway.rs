//! The gateway that the benchmarks measure: `bench-gateway PORT URL`, or `bench-gateway PORT -- COMMAND ARGUMENTS`. It
//! serves the tools of one server, over HTTP or on a pipe, with their own names.

#![allow(clippy::print_stderr, reason = "prints its URL")]

use std::error::Error;
use std::net::Ipv4Addr;

use mcp::ServerCommand;
use mcp::gateway::{Gateway, GatewayServer};
use mcp::group::Naming;
use mcp::http::Serve;
use tokio::net::TcpListener;
use tokio::runtime;

const USAGE: &str = "usage: bench-gateway PORT URL | bench-gateway PORT -- COMMAND ARGUMENTS";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    // One thread, because the benchmarks measure one core.
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let gateway = Gateway::new("bench-gateway", "0.0.0").naming(Naming::PlainUnlessTaken);
    let (port, gateway) = match &arguments[..] {
        [port, separator, program, arguments @ ..] if separator == "--" => {
            let command = ServerCommand::new(program).args(arguments);
            (
                port,
                gateway.server(GatewayServer::new("bench", move |client| {
                    client.connect(command.clone())
                })),
            )
        }
        [port, url] => {
            let url = url.clone();
            (
                port,
                gateway.server(GatewayServer::new("bench", move |client| {
                    client.connect(url.clone())
                })),
            )
        }
        _ => return Err(USAGE.into()),
    };
    runtime.block_on(serve(gateway, port.parse()?))
}

async fn serve(gateway: Gateway, port: u16) -> Result<(), Box<dyn Error>> {
    let opened = gateway.connect().await?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    Serve::new(opened.server).run(listener).await?;
    opened.group.close().await;
    Ok(())
}

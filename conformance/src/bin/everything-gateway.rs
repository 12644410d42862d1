//! A gateway in front of one server, whose items keep their names, so that the official suite finds its
//! fixtures: `everything-gateway legacy|modern|auto URL` or `everything-gateway MODE -- COMMAND…`. It listens
//! at the port `PORT`, and prints its URL to standard error.

#![allow(clippy::print_stderr, reason = "prints its URL")]

use mcp::gateway::Gateway;
use mcp::group::Naming;
use mcp::prelude::*;
use mcp::types::ProtocolVersion;
use mcp::{ConnectMode, ServerCommand, StateKeys};
use tokio::net::TcpListener;

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mode, target @ ..] = &*arguments else {
        return Err("use: everything-gateway legacy|modern|auto URL | -- COMMAND…".into());
    };
    let mode = match &**mode {
        "legacy" => ConnectMode::Legacy,
        "modern" => ConnectMode::Pin(ProtocolVersion::LATEST),
        "auto" => ConnectMode::Auto,
        other => return Err(format!("unknown mode {other:?}").into()),
    };
    let gateway = Gateway::new("everything-gateway", "1.0.0").naming(Naming::PlainUnlessTaken);
    let gateway = match target {
        [dashes, program, rest @ ..] if dashes == "--" => {
            let command = ServerCommand::new(program).args(rest);
            gateway.server("server", move |client| {
                client.mode(mode.clone()).connect(command.clone())
            })
        }
        [url] => {
            let url = url.clone();
            gateway.server("server", move |client| {
                client.mode(mode.clone()).connect(url.clone())
            })
        }
        _ => return Err("the URL or the command is missing".into()),
    };
    let opened = gateway.open().await?;
    // As everything-server: the suite sends answers with its first request.
    let keys = StateKeys::random()?.accept_unsolicited_answers();
    let server = opened.server.request_state_keys(keys);
    let port = std::env::var("PORT").unwrap_or_default();
    let listener = TcpListener::bind(("127.0.0.1", port.parse().unwrap_or(0))).await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    mcp::serve_http(server, listener).await?;
    Ok(())
}

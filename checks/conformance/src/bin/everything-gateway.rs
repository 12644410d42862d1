//! A gateway in front of one server, whose items keep their names, so that the official suite finds its
//! fixtures: `everything-gateway legacy|modern|auto URL` or `everything-gateway MODE -- COMMAND…`. It listens
//! at the port `PORT`, and prints its URL to standard error. After `--redis URL` it is one of several gateways that share
//! sessions, events and changes.

#![allow(clippy::print_stderr, reason = "prints its URL")]

use mcp::gateway::{Gateway, GatewayServer};
use mcp::group::Naming;
use mcp::http::Serve;
use mcp::prelude::*;
use mcp::redis::Redis;
use mcp::types::ProtocolVersion;
use mcp::{ConnectMode, ServerCommand, Sessions, StateKeys};
use tokio::net::TcpListener;

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (redis, arguments) = match &*arguments {
        [flag, url, rest @ ..] if flag == "--redis" => (Some(url), rest),
        all => (None, all),
    };
    let [mode, target @ ..] = arguments else {
        let usage = "use: everything-gateway [--redis URL] legacy|modern|auto URL | -- COMMAND…";
        return Err(usage.into());
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
            gateway.server(GatewayServer::new("server", move |client| {
                client.mode(mode.clone()).connect(command.clone())
            }))
        }
        [url] => {
            let url = url.clone();
            gateway.server(GatewayServer::new("server", move |client| {
                client.mode(mode.clone()).connect(url.clone())
            }))
        }
        _ => return Err("the URL or the command is missing".into()),
    };
    let opened = gateway.connect().await?;
    let port = std::env::var("PORT").unwrap_or_default();
    let listener = TcpListener::bind(("127.0.0.1", port.parse().unwrap_or(0))).await?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    let endpoint = match redis {
        Some(redis) => shared(opened.server, redis).await?,
        None => {
            // As everything-server: the suite sends answers with its first request.
            let keys = StateKeys::random()?.accept_unsolicited_answers();
            StreamableHttp::new(opened.server.request_state_keys(keys))
        }
    };
    eprintln!("listening on {url}");
    Ok(Serve::service(endpoint).run(listener).await?)
}

/// The endpoint of one of several gateways.
async fn shared(server: Server, redis: &str) -> Result<StreamableHttp, Failure> {
    let redis = Redis::connect(redis).await?.prefix("gateways");
    // All gateways have the same key. This program is for tests only.
    let keys = StateKeys::new("a key of the gateways of this test program")?;
    let server = server.request_state_keys(keys).change_bus(redis.bus());
    Ok(StreamableHttp::new(server)
        .sessions(Sessions::shared(redis.sessions()))
        .events(redis.events()))
}

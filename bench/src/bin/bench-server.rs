//! The server that is measured: `bench-server http PORT`.
//!
//! `NTOOLS=n` adds n tools to the list.

#![allow(clippy::print_stderr, reason = "it tells its URL")]

use std::net::Ipv4Addr;

use mcp::http::Serve;
use mcp::prelude::*;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Echo {
    message: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Add {
    a: f64,
    b: f64,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Steps {
    n: u32,
}

fn server(listed: usize) -> Server {
    let more = (0..listed).map(|number| {
        let description = "One of many tools, listed to see what a long list costs.";
        Tool::new(format!("tool_{number}"))
            .describe(description)
            .handler(async |Args(echo): Args<Echo>| echo.message)
    });
    Server::new("bench-server", env!("CARGO_PKG_VERSION"))
        .tool(
            Tool::new("echo")
                .describe("Say it again")
                .handler(async |Args(echo): Args<Echo>| echo.message),
        )
        .tool(
            Tool::new("add")
                .describe("Add two numbers")
                .handler(async |Args(add): Args<Add>| add.a + add.b),
        )
        .tool(
            Tool::new("progress")
                .describe("Report progress n times")
                .handler(async |Args(steps): Args<Steps>, progress: Progress| {
                    for step in 1..=steps.n {
                        progress
                            .send(mcp::types::Progress::new(step.into()).of(steps.n.into()))
                            .await;
                    }
                    "done"
                }),
        )
        .merge(more.collect())
}

/// One thread: what is measured is one core.
#[tokio::main(flavor = "current_thread")]
async fn main() -> mcp::Result<()> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let port = match &arguments[..] {
        [transport, port] if transport == "http" => port.parse().map_err(std::io::Error::other)?,
        _ => return Err(std::io::Error::other("usage: bench-server http PORT").into()),
    };
    let listed = std::env::var("NTOOLS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(0);
    let endpoint = StreamableHttp::new(server(listed)).body_limit(64 << 20);
    let serve = Serve::bind((Ipv4Addr::LOCALHOST, port), endpoint).await?;
    eprintln!("listening on http://{}/mcp", serve.local_addr()?);
    serve.shutdown_on(mcp::http::termination()).await?;
    Ok(())
}

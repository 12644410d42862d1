//! Layers around calls: a log, a time limit, a limit of calls at a time, and a function of ours.
//!
//! `cargo run -p examples --bin middleware`

#![allow(clippy::print_stdout, reason = "it shows what happens")]

use std::time::Duration;

use mcp::middleware::{Exchange, Fault, Next, Reply, RequestLog, from_fn};
use mcp::prelude::*;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::time::sleep;
use tower::limit::ConcurrencyLimitLayer;
use tower::timeout::TimeoutLayer;

/// How long any call may take.
const LIMIT: Duration = Duration::from_millis(300);

struct Press;

/// A printing press.
#[mcp::server]
impl Press {
    /// Print a page. One at a time: there is one press.
    #[tool(layer = ConcurrencyLimitLayer::new(1))]
    async fn print(&self, page: u32) -> String {
        sleep(Duration::from_millis(20)).await;
        format!("page {page}")
    }

    /// Print everything there is.
    #[tool]
    async fn print_everything(&self) -> String {
        sleep(Duration::from_secs(3600)).await;
        "done".to_owned()
    }

    /// Throw all paper away.
    #[tool(destructive)]
    fn empty(&self) -> &'static str {
        "no paper left"
    }
}

/// Nobody throws anything away.
async fn keep_paper(exchange: Exchange, next: Next) -> Result<Reply, Fault> {
    if exchange.call.item() == Some("empty") {
        return Err(Fault::Refused("the paper stays here".into()));
    }
    Ok(next.run(exchange).await)
}

#[tokio::main]
async fn main() -> mcp::Result<()> {
    tracing_subscriber::fmt().with_target(false).init();

    // The layer that is added last is the outermost: the log sees what the others do.
    let server = Server::of(Press)
        .layer(from_fn(keep_paper))
        .layer(TimeoutLayer::new(LIMIT))
        .layer(RequestLog::new());
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    tokio::spawn(mcp::serve_http(server, listener));

    let client = Client::connect(&url).await?;
    let (first, second) = tokio::join!(
        client.call("print", json!({"page": 1})).into_future(),
        client.call("print", json!({"page": 2})).into_future(),
    );
    println!("{}, {}", first?.text(), second?.text());
    for tool in ["empty", "print_everything"] {
        match client.call(tool, json!({})).await {
            Ok(result) => println!("{tool}: {}", result.text()),
            Err(error) => println!("{tool}: {error}"),
        }
    }
    Ok(())
}

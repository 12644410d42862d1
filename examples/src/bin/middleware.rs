//! Layers around calls: a request log, a timeout, a concurrency limit, and a custom function. Calls by a tool's former
//! name.
//!
//! `cargo run -p examples --bin middleware`

#![allow(clippy::print_stdout, reason = "example output")]

use std::time::Duration;

use mcp::middleware::{Call, Exchange, Fault, Next, Reply, RequestLog, from_fn};
use mcp::prelude::*;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::time::sleep;
use tower::limit::ConcurrencyLimitLayer;
use tower::timeout::TimeoutLayer;

/// Timeout for every call.
const TIMEOUT: Duration = Duration::from_millis(300);

struct Press;

/// A printing press.
#[mcp::server]
impl Press {
    /// Print a page. Only one call runs at a time.
    #[tool(layer = ConcurrencyLimitLayer::new(1))]
    async fn print(&self, page: u32) -> String {
        sleep(Duration::from_millis(20)).await;
        format!("page {page}")
    }

    /// Print all pages.
    #[tool]
    async fn print_all(&self) -> String {
        sleep(Duration::from_secs(3600)).await;
        "done".to_owned()
    }

    /// Remove all paper.
    #[tool(destructive)]
    fn empty(&self) -> &'static str {
        "no paper left"
    }
}

/// Refuses calls of `empty`.
async fn refuse_empty(exchange: Exchange, next: Next) -> Result<Reply, Fault> {
    if exchange.call.item() == Some("empty") {
        return Err(Fault::Refused("removing the paper is not allowed".into()));
    }
    Ok(next.run(exchange).await)
}

/// Replaces calls by a former name of `print`, before the layers see them.
fn renamed(call: &Call) -> Option<Call> {
    let Call::CallTool(params) = call else {
        return None;
    };
    let mut params = params.clone();
    (params.name == "print_page").then(|| {
        params.name = "print".to_owned();
        Call::CallTool(params)
    })
}

#[tokio::main]
async fn main() -> mcp::Result<()> {
    tracing_subscriber::fmt().with_target(false).init();

    // The layer that is added last is the outermost: the log includes refused and timed out calls.
    let server = Server::of(Press)
        .layer(from_fn(refuse_empty))
        .layer(TimeoutLayer::new(TIMEOUT))
        .layer(RequestLog::new())
        .replace_calls(renamed);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    tokio::spawn(mcp::serve_http(server, listener));

    let client = Client::connect(&url).await?;
    let (first, second) = tokio::join!(
        client.call("print", json!({"page": 1})).into_future(),
        client.call("print_page", json!({"page": 2})).into_future(),
    );
    println!("{}, {}", first?.text(), second?.text());
    for tool in ["empty", "print_all"] {
        match client.call(tool, json!({})).await {
            Ok(result) => println!("{tool}: {}", result.text()),
            Err(error) => println!("{tool}: {error}"),
        }
    }
    Ok(())
}

//! One node of a server that runs on several nodes behind one address. Sessions, stream events and
//! changes are in Redis, so that each request may reach any node, and a node may end at any time.
//!
//! ```sh
//! export REDIS_URL=redis://127.0.0.1:6379 STATE_SECRET=0123456789abcdef0123456789abcdef
//! ADDRESS=127.0.0.1:8001 cargo run -p examples --bin cluster &
//! ADDRESS=127.0.0.1:8002 cargo run -p examples --bin cluster &
//! ```

#![allow(clippy::print_stdout, reason = "prints its URL")]

use std::env;
use std::io::Error;

use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;
use mcp::http::{Shutdown, termination};
use mcp::prelude::*;
use mcp::redis::Redis;
use mcp::{Sessions, StateKeys};
use tokio::net::TcpListener;

/// The form for the customer.
#[derive(Elicit)]
struct Cake {
    /// Number of layers
    #[elicit(range = 1..=5, default = 2)]
    layers: u8,
}

struct Shop;

/// A shop.
#[mcp::server]
impl Shop {
    /// Order a cake. Asks for the number of layers: the answer may reach another node.
    #[tool]
    async fn order(&self, ask: Ask) -> Result<String, ToolError> {
        let cake = ask.form::<Cake>("cake", "Which cake?").await?;
        Ok(match cake.accepted() {
            Some(Cake { layers }) => format!("a cake with {layers} layers"),
            None => "no cake".to_owned(),
        })
    }

    /// Close the shop. Subscribers of all nodes are notified.
    #[tool]
    fn close(&self, notify: Notify) -> &'static str {
        notify.resources_changed();
        "closed"
    }
}

fn variable(name: &str) -> mcp::Result<String> {
    let value = env::var(name).map_err(|_| Error::other(format!("set {name}")));
    Ok(value?)
}

#[tokio::main]
async fn main() -> mcp::Result<()> {
    let redis = Redis::connect(&variable("REDIS_URL")?).await;
    let redis = redis.map_err(Error::other)?.prefix("shop");
    let keys = StateKeys::new(variable("STATE_SECRET")?).map_err(Error::other)?;
    let server = Server::of(Shop)
        .request_state_keys(keys)
        .change_bus(redis.bus());
    let shutdown = Shutdown::new();
    let endpoint = StreamableHttp::new(server)
        .sessions(Sessions::shared(redis.sessions()))
        .events(redis.events())
        .shutdown_with(shutdown.clone());
    // A load balancer sends requests to this node while Redis answers.
    let ready = async move || match redis.ping().await {
        Ok(()) => StatusCode::OK,
        Err(_) => StatusCode::SERVICE_UNAVAILABLE,
    };
    let app = Router::new()
        .route_service("/mcp", endpoint)
        .route("/health", get(async || "ok"))
        .route("/ready", get(ready));
    let listener = TcpListener::bind(variable("ADDRESS")?).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    let stop = async move {
        termination().await;
        // Ends streams, whose clients continue on other nodes; running calls finish.
        shutdown.drain();
    };
    axum::serve(listener, app)
        .with_graceful_shutdown(stop)
        .await?;
    Ok(())
}

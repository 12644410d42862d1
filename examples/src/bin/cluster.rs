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
use std::time::Duration;

use mcp::http::{HealthChecks, Serve};
use mcp::prelude::*;
use mcp::redis::Redis;
use mcp::{Sessions, StateKeys};

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
    let endpoint = StreamableHttp::new(server)
        .sessions(Sessions::shared(redis.sessions()))
        .events(redis.events());
    // A load balancer sends requests to this node while `/ready` answers 200: Redis answers, and the node
    // does not shut down.
    let health = HealthChecks::new().ready(move || {
        let redis = redis.clone();
        async move { redis.ping().await }
    });
    let address = variable("ADDRESS")?;
    println!("http://{address}/mcp");
    // After SIGTERM, streams end, and their clients continue on other nodes; running calls finish.
    Serve::service(endpoint)
        .health_checks(health)
        .drain_delay(Duration::from_secs(2))
        .run(address)
        .await?;
    Ok(())
}

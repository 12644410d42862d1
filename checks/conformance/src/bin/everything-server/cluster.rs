//! One node of several that share a Redis server.

use std::io::Error;
use std::time::Duration;

use mcp::events::Events;
use mcp::http::{HealthChecks, Serve};
use mcp::prelude::*;
use mcp::redis::Redis;
use mcp::tasks::Tasks;
use mcp::{Sessions, StateKeys};
use tokio::net::TcpListener;

use crate::extensions;

/// The time in which a proxy learns that the node ends.
const DRAIN_DELAY: Duration = Duration::from_millis(300);

/// Serves until SIGTERM, and then lets running calls finish.
pub(crate) async fn serve(
    listener: TcpListener,
    server: fn(Tasks, Events) -> mcp::Result<Server>,
    url: &str,
    prefix: String,
) -> mcp::Result<()> {
    let redis = Redis::connect(url).await.map_err(Error::other)?;
    let redis = redis.prefix(prefix);
    // All nodes have the same key. This program is for tests only.
    let keys = StateKeys::new("a key of the nodes of this test program");
    let keys = keys.map_err(Error::other)?.accept_unsolicited_answers();
    let events = extensions::events(redis.event_log(), redis.webhooks())?;
    let server = server(Tasks::with_store(redis.tasks()), events)?
        .request_state_keys(keys)
        .change_bus(redis.bus());
    let endpoint = StreamableHttp::new(server)
        .sessions(Sessions::shared(redis.sessions()))
        .events(redis.events());
    let health = HealthChecks::new().ready(move || {
        let redis = redis.clone();
        async move { redis.ping().await }
    });
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    Serve::service(endpoint)
        .health_checks(health)
        .drain_delay(DRAIN_DELAY)
        .run(listener)
        .await?;
    Ok(())
}

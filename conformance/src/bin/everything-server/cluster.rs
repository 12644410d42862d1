//! One node of several that share a Redis server.

use std::io::Error;

use axum::Router;
use axum::routing::get;
use http::StatusCode;
use mcp::http::{Shutdown, termination};
use mcp::prelude::*;
use mcp::redis::Redis;
use mcp::{Sessions, StateKeys};
use tokio::net::TcpListener;

/// Serves until SIGTERM, and then lets running calls finish.
pub(crate) async fn serve(
    listener: TcpListener,
    server: Server,
    url: &str,
    prefix: String,
) -> mcp::Result<()> {
    let redis = Redis::connect(url).await.map_err(Error::other)?;
    let redis = redis.prefix(prefix);
    // All nodes have the same key. This program is for tests only.
    let keys = StateKeys::new("a key of the nodes of this test program");
    let keys = keys.map_err(Error::other)?.accept_unsolicited_answers();
    let shutdown = Shutdown::new();
    let server = server.request_state_keys(keys).change_bus(redis.bus());
    let endpoint = StreamableHttp::new(server)
        .sessions(Sessions::shared(redis.sessions()))
        .events(redis.events())
        .shutdown_with(shutdown.clone());
    let ready = async move || match redis.ping().await {
        Ok(()) => (StatusCode::OK, "ready".to_owned()),
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, error.to_string()),
    };
    let app = Router::new()
        .route_service("/mcp", endpoint)
        .route("/health", get(async || "ok"))
        .route("/ready", get(ready));
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    let stop = async move {
        termination().await;
        shutdown.drain();
    };
    axum::serve(listener, app)
        .with_graceful_shutdown(stop)
        .await?;
    Ok(())
}

//! Optional ends of event streams: the maximum age, and the shutdown of the server.

use std::future::pending;
use std::time::Duration;

use futures_util::FutureExt;
use mcp_core::BoxFuture;
use tokio::time::{sleep, timeout};

use super::config::Config;
use crate::Shutdown;

/// Waits until `limit` has elapsed, or forever without a limit.
pub(super) async fn elapsed(limit: Option<Duration>) {
    match limit {
        Some(limit) => sleep(limit).await,
        None => pending().await,
    }
}

/// Waits until the server is closed, or forever without a handle.
pub(super) async fn closed(shutdown: Option<Shutdown>) {
    match shutdown {
        Some(shutdown) => shutdown.closed().await,
        None => pending().await,
    }
}

/// Waits until the server drains, or forever without a handle.
pub(super) async fn draining(shutdown: Option<Shutdown>) {
    match shutdown {
        Some(shutdown) => shutdown.draining().await,
        None => pending().await,
    }
}

/// Waits until a stream without an end of its own must end: when the server drains, or when the
/// stream reaches its maximum age.
pub(super) fn stream_end(config: &Config) -> BoxFuture<'static, ()> {
    let draining = draining(config.shutdown());
    match config.streams.max_age {
        None => Box::pin(draining),
        Some(max_age) => Box::pin(timeout(max_age, draining).map(drop)),
    }
}

//! Optional ends of event streams: the maximum age, the server's shutdown, and the expiry of the
//! caller's authorization.

use std::future::pending;
use std::time::SystemTime;

use futures_util::FutureExt;
use futures_util::future::select;
use mcp_core::{BoxFuture, Principal};
use tokio::time::{sleep, timeout};

use super::super::config::Config;
use crate::shutdown::Shutdown;

/// Waits until the server drains, or forever without a handle.
pub(crate) async fn draining(shutdown: Option<Shutdown>) {
    match shutdown {
        Some(shutdown) => shutdown.draining().await,
        None => pending().await,
    }
}

/// Returns the time at which the authorization of a caller expires.
pub(crate) fn expiry(caller: Option<&Principal>) -> Option<SystemTime> {
    caller?.expires_at
}

/// Waits until an authorization has expired. The time that is left is measured once, at the start.
pub(crate) async fn expired(expiry: SystemTime) {
    let left = expiry.duration_since(SystemTime::now());
    sleep(left.unwrap_or_default()).await;
}

/// Waits until a stream without an end of its own must end: when the server drains, when the stream
/// reaches its maximum age, or when the authorization of its caller has expired.
pub(crate) fn stream_end(config: &Config, expiry: Option<SystemTime>) -> BoxFuture<'static, ()> {
    let draining = draining(config.shutdown());
    let end: BoxFuture<'static, ()> = match config.streams.max_age {
        None => Box::pin(draining),
        Some(max_age) => Box::pin(timeout(max_age, draining).map(drop)),
    };
    match expiry {
        None => end,
        Some(expiry) => Box::pin(select(end, Box::pin(expired(expiry))).map(drop)),
    }
}

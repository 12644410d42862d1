//! Checks of running servers.

use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};

use crate::client::Client;

/// Longest wait for the answer to a check, and for the end of a server that has failed.
pub(super) const LIMIT: Duration = Duration::from_secs(5);

/// Failures in a row that end a server.
const FAILURES: usize = 2;

/// Waits until a server fails two checks in a row. Never ends without a period.
pub(super) async fn failed(client: &Client, period: Option<Duration>) {
    let Some(period) = period else {
        return std::future::pending().await;
    };
    let mut ticks = interval_at(Instant::now() + period, period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut failures = 0;
    while failures < FAILURES {
        ticks.tick().await;
        match timeout(LIMIT, client.ping()).await {
            Ok(Ok(())) => failures = 0,
            // An answer that is an error is an answer.
            Ok(Err(error)) if error.fault().is_some() => failures = 0,
            Ok(Err(_)) | Err(_) => failures += 1,
        }
    }
}

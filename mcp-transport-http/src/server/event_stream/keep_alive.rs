//! Comments that keep silent event streams open.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use super::super::config::StreamConfig;
use crate::sse::encode as sse;

/// `tokio::time::Interval` does not accept zero.
const MIN_INTERVAL: Duration = Duration::from_millis(1);
/// `tokio::time::Instant` overflows for very large durations.
const MAX_INTERVAL: Duration = Duration::from_secs(365 * 24 * 3600);

/// Timer of the comments that keep a silent event stream open. Counts the stream as open.
// spec: HTTP-SM-20, HTTP-S-11
#[derive(Debug)]
pub(crate) struct KeepAlive {
    timer: Interval,
    /// Counts the stream.
    _counted: Arc<()>,
}

impl KeepAlive {
    pub(crate) fn new(config: &StreamConfig) -> Self {
        let interval = config.keep_alive_interval;
        let interval = interval.clamp(MIN_INTERVAL, MAX_INTERVAL);
        let mut timer = interval_at(Instant::now() + interval, interval);
        timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            timer,
            _counted: Arc::clone(&config.counters.streams),
        }
    }

    /// Restarts the timer after a frame was sent.
    pub(crate) fn reset(&mut self) {
        self.timer.reset();
    }

    /// Polls for a comment. It is ready after an interval without [`reset`](Self::reset).
    pub(crate) fn poll_comment(&mut self, cx: &mut Context<'_>) -> Poll<Bytes> {
        let comment = Bytes::from_static(sse::KEEP_ALIVE_COMMENT);
        self.timer.poll_tick(cx).map(|_| comment)
    }

    /// Waits for a comment. It is ready after an interval without [`reset`](Self::reset).
    pub(crate) async fn comment(&mut self) -> Bytes {
        std::future::poll_fn(|cx| self.poll_comment(cx)).await
    }
}

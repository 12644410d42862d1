//! Limits of one session.

use std::time::{Duration, Instant};

use crate::connection::Transport;
use crate::legacy::pending::RequestTimeouts;

/// The limits of one session, its clock and its transport.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct SessionLimits {
    /// The number of requests to the client that may be pending. Default: 64.
    pub pending_requests: usize,
    /// The time for the response of the client, or for its next progress notification. Default: 300
    /// seconds.
    pub response_timeout: Duration,
    /// The total time for the client's response. Default: one hour.
    pub max_response_time: Duration,
    /// The number of resources that the client can subscribe to. Default: 1024.
    pub subscriptions: usize,
    /// The number after which the ids of requests to the client start. Default: 0.
    ///
    /// Nodes that continue each other's sessions start far from each other, so that a response that
    /// reaches the wrong node matches no request there.
    pub request_ids_after: i64,
    pub(super) clock: fn() -> Instant,
    pub(super) transport: Option<Transport>,
}

impl SessionLimits {
    /// The default limits. Observers learn the transport, if it is known.
    pub fn new(clock: fn() -> Instant, transport: Option<Transport>) -> Self {
        Self {
            pending_requests: 64,
            response_timeout: Duration::from_secs(300),
            max_response_time: Duration::from_secs(3600),
            subscriptions: 1024,
            request_ids_after: 0,
            clock,
            transport,
        }
    }

    pub(super) fn timeouts(&self) -> RequestTimeouts {
        RequestTimeouts {
            idle: self.response_timeout,
            total: self.max_response_time,
        }
    }
}

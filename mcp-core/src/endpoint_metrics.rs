//! A snapshot of what an endpoint holds and has refused.

use std::collections::BTreeMap;

/// A snapshot of what an endpoint holds and has refused, for metrics and health checks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EndpointMetrics {
    /// Open sessions of legacy clients.
    pub sessions: u64,
    /// Open event streams: of calls, of subscriptions, and of sessions.
    pub streams: u64,
    /// Running `subscriptions/listen` requests.
    pub subscriptions: u64,
    /// The number of requests that were refused before a service was called, by HTTP status.
    pub refused: BTreeMap<u16, u64>,
}

//! Stores of webhook subscriptions.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use mcp_core::store::StoreError;

/// A webhook subscription as a store keeps it. `Debug` shows its id only.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WebhookRecord {
    /// The id, the same for the same subscriber, URL, event type and arguments.
    pub id: String,
    /// The subscriber's identity, by which subscriptions are limited.
    pub owner: String,
    /// The subscription as JSON. It contains the signing secret: it is confidential.
    pub subscription: String,
    /// The position and the state of the deliveries as JSON.
    pub progress: String,
}

impl WebhookRecord {
    /// A record.
    pub fn new(
        id: impl Into<String>,
        owner: impl Into<String>,
        subscription: impl Into<String>,
        progress: impl Into<String>,
    ) -> Self {
        Self {
            id: id.into(),
            owner: owner.into(),
            subscription: subscription.into(),
            progress: progress.into(),
        }
    }
}

impl fmt::Debug for WebhookRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookRecord")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// The limits of a webhook store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct WebhookLimits {
    /// The number of subscriptions. Default: 1,000.
    pub subscriptions: usize,
    /// The number of one owner's subscriptions. Default: 100.
    pub subscriptions_per_owner: usize,
}

impl Default for WebhookLimits {
    fn default() -> Self {
        Self {
            subscriptions: 1000,
            subscriptions_per_owner: 100,
        }
    }
}

/// The outcome of a write to a store of webhook subscriptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WebhookWrite {
    /// The record was stored.
    Stored,
    /// The limit of all subscriptions is reached.
    Full,
    /// The limit of the owner's subscriptions is reached.
    OwnerFull,
}

/// The webhook subscriptions, and the leases by which the nodes of a server share their delivery.
///
/// Any node answers `events/subscribe`. One node at a time delivers to a subscription: its lease's
/// holder. Nodes [`claim`](Self::claim) at intervals that are shorter than the lease; a subscription whose
/// node has died is claimed by another one when the lease has ended.
///
/// Each operation is atomic. The server limits the time of each call. Errors are logged and not sent to
/// clients.
#[async_trait]
pub trait WebhookStore: Send + Sync + 'static {
    /// Stores a subscription for `ttl` from now on. A stored one with the same id is replaced, but keeps
    /// its progress; a new one needs space within the limits.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] when the subscription was not stored.
    async fn put(
        &self,
        record: WebhookRecord,
        ttl: Duration,
        limits: &WebhookLimits,
    ) -> Result<WebhookWrite, StoreError>;

    /// Returns the outcome that [`put`](Self::put) would have for a new subscription of `owner`, so that a
    /// server without space sends no challenge. Another node may take the space in the meantime.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] when the store is not available.
    async fn check_space(
        &self,
        owner: &str,
        limits: &WebhookLimits,
    ) -> Result<WebhookWrite, StoreError>;

    /// Returns a subscription. `None` when it was removed or has expired.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] when the store is not available.
    async fn load(&self, id: &str) -> Result<Option<WebhookRecord>, StoreError>;

    /// Removes a subscription. Returns false when there is none.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] when the subscription may still be stored.
    async fn remove(&self, id: &str) -> Result<bool, StoreError>;

    /// Extends all leases of a node to `lease` from now on, and gives it up to `limit` further
    /// subscriptions without a lease. Returns the ids of all subscriptions on the node.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] when the leases were not extended.
    async fn claim(
        &self,
        node: &str,
        lease: Duration,
        limit: usize,
    ) -> Result<Vec<String>, StoreError>;

    /// Stores the progress of a subscription. Returns false, and stores nothing, when the node does not
    /// hold the lease or the subscription is gone.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] when the progress was not stored.
    async fn advance(&self, id: &str, node: &str, progress: String) -> Result<bool, StoreError>;

    /// Records that a URL has agreed to receive events of an owner. The store remembers at least the last
    /// 1,000.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] when nothing was recorded.
    async fn set_verified(&self, owner: &str, url: &str) -> Result<(), StoreError>;

    /// Returns true if a URL has agreed to receive events of an owner.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] when the store is not available.
    async fn is_verified(&self, owner: &str, url: &str) -> Result<bool, StoreError>;
}

#[cfg(test)]
mod tests {
    use super::WebhookRecord;

    #[test]
    fn record_shows_no_secret_in_debug_output() {
        let record = WebhookRecord::new("sub_1", "ada", r#"{"secret":"whsec_x"}"#, "{}");
        assert_eq!(
            format!("{record:?}"),
            r#"WebhookRecord { id: "sub_1", .. }"#
        );
    }
}

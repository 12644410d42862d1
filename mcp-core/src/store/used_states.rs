//! The trait for stores of the request states that were used.

use std::time::Duration;

use async_trait::async_trait;

use super::StoreError;
use crate::authorization::CallerKey;

/// A store of the request states that clients have used, so that a state that is sent again counts as a repeated
/// one. Nodes that share a store count their uses together.
///
/// # Implementations
///
/// [`insert`](Self::insert) is one command of a store such as Redis: `SET id "" NX PX ttl`.
#[async_trait]
pub trait UsedStateStore: Send + Sync + 'static {
    /// Stores the id of a state that a caller uses, for at least `ttl`. Returns false if it is stored already. Check
    /// and write must be atomic.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] when the id was not stored. The call then fails.
    async fn insert(&self, caller: &CallerKey, id: &str, ttl: Duration)
    -> Result<bool, StoreError>;
}

//! The store of used request states.

use std::time::Duration;

use async_trait::async_trait;
use mcp_core::CallerKey;
use mcp_core::store::{StoreError, UsedStateStore};

use crate::connection::Commands;

/// A store of used request states in Redis, which expires them by itself.
/// [`Redis::used_states`](crate::Redis::used_states) creates it.
#[derive(Debug, Clone)]
pub struct RedisUsedStates {
    redis: Commands,
}

impl RedisUsedStates {
    pub(crate) fn new(redis: Commands) -> Self {
        Self { redis }
    }
}

#[async_trait]
impl UsedStateStore for RedisUsedStates {
    async fn insert(&self, _: &CallerKey, id: &str, ttl: Duration) -> Result<bool, StoreError> {
        let key = self.redis.keys.used_state(id);
        let set = self
            .redis
            .set("count a used state", key, "", ttl, Some("NX"));
        Ok(set.await?)
    }
}

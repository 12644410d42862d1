//! The store of used request states.

use std::time::Duration;

use async_trait::async_trait;
use mcp_core::CallerKey;
use mcp_core::store::{StoreError, UsedStateStore};
use redis::cmd;

use crate::connection::{SharedConnection, millis};
use crate::keys::Keys;

/// A store of used request states in Redis, which expires them by itself.
/// [`Redis::used_states`](crate::Redis::used_states) creates it.
#[derive(Debug, Clone)]
pub struct RedisUsedStates {
    connection: SharedConnection,
    keys: Keys,
    timeout: Duration,
}

impl RedisUsedStates {
    pub(crate) fn new(connection: SharedConnection, keys: Keys, timeout: Duration) -> Self {
        Self {
            connection,
            keys,
            timeout,
        }
    }
}

#[async_trait]
impl UsedStateStore for RedisUsedStates {
    async fn insert(&self, _: &CallerKey, id: &str, ttl: Duration) -> Result<bool, StoreError> {
        let mut set = cmd("SET");
        set.arg(self.keys.used_state(id)).arg("").arg("NX");
        set.arg("PX").arg(millis(ttl));
        let written: Option<String> = self
            .connection
            .command("count a used state", self.timeout, &set)
            .await?;
        Ok(written.is_some())
    }
}

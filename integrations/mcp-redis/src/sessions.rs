//! The session store.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcp_core::store::{SessionRecord, SessionRelay, SessionStore, StoreError};
use redis::cmd;

use crate::connection::{Commands, from_json, millis, to_json};
use crate::error::RedisError;
use crate::relay::RedisRelay;

/// A session store in Redis, which expires them by itself. [`Redis::sessions`](crate::Redis::sessions)
/// creates it.
///
/// The record of a session has at most 64 KiB by default. Memory is bounded by the limits of the
/// endpoints (`Sessions::max`) and of Redis (`maxmemory`).
#[derive(Debug, Clone)]
pub struct RedisSessions {
    redis: Commands,
    max_record_bytes: usize,
    relay: Arc<RedisRelay>,
}

impl RedisSessions {
    pub(crate) fn new(redis: Commands, relay: RedisRelay) -> Self {
        Self {
            redis,
            max_record_bytes: 64 << 10,
            relay: Arc::new(relay),
        }
    }

    /// Sets the maximum size of a session record in bytes, 64 KiB by default. The request that makes a
    /// record larger, such as a subscription to one more resource, fails.
    #[must_use]
    pub fn max_record_bytes(mut self, bytes: usize) -> Self {
        self.max_record_bytes = bytes;
        self
    }

    /// Writes a record if the key exists (`XX`) or does not exist (`NX`). Returns false when it was not
    /// written.
    async fn set(
        &self,
        operation: &'static str,
        id: &str,
        record: &SessionRecord,
        ttl: Duration,
        condition: &str,
    ) -> Result<bool, StoreError> {
        let json = to_json("encode a session", record)?;
        let (bytes, limit) = (json.len(), self.max_record_bytes);
        if bytes > limit {
            return Err(RedisError::TooLarge { bytes, limit }.into());
        }
        let key = self.redis.keys.session(id);
        let set = self.redis.set(operation, key, json, ttl, Some(condition));
        Ok(set.await?)
    }
}

#[async_trait]
impl SessionStore for RedisSessions {
    async fn load(&self, id: &str) -> Result<Option<SessionRecord>, StoreError> {
        let operation = "load a session";
        let mut get = cmd("GET");
        get.arg(self.redis.keys.session(id));
        let json: Option<Vec<u8>> = self.redis.command(operation, &get).await?;
        let record = json.map(|json| from_json(operation, &json));
        Ok(record.transpose()?)
    }

    async fn insert(
        &self,
        id: &str,
        record: SessionRecord,
        ttl: Duration,
    ) -> Result<bool, StoreError> {
        self.set("insert a session", id, &record, ttl, "NX").await
    }

    async fn replace(
        &self,
        id: &str,
        record: SessionRecord,
        ttl: Duration,
    ) -> Result<bool, StoreError> {
        self.set("replace a session", id, &record, ttl, "XX").await
    }

    async fn touch(&self, id: &str, ttl: Duration) -> Result<bool, StoreError> {
        let mut expire = cmd("PEXPIRE");
        expire.arg(self.redis.keys.session(id)).arg(millis(ttl));
        Ok(self.redis.command("keep a session", &expire).await?)
    }

    async fn remove(&self, id: &str) -> Result<(), StoreError> {
        let mut delete = cmd("DEL");
        delete.arg(self.redis.keys.session(id));
        Ok(self.redis.command("remove a session", &delete).await?)
    }

    fn relay(&self) -> Option<Arc<dyn SessionRelay>> {
        Some(self.relay.clone())
    }
}

//! The session store.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcp_core::store::{SessionRecord, SessionRelay, SessionStore, StoreError};
use redis::cmd;

use crate::RedisError;
use crate::connection::{Commands, millis};
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

    /// Encodes a record.
    fn encode(&self, record: &SessionRecord) -> Result<Vec<u8>, RedisError> {
        let json = serde_json::to_vec(record)
            .map_err(|error| RedisError::malformed("encode a session", error))?;
        let (bytes, limit) = (json.len(), self.max_record_bytes);
        if bytes <= limit {
            Ok(json)
        } else {
            Err(RedisError::TooLarge { bytes, limit })
        }
    }

    /// Writes a record if the key exists (`XX`) or does not exist (`NX`). Returns false when it was not
    /// written.
    async fn set(
        &self,
        operation: &'static str,
        id: &str,
        json: &[u8],
        ttl: Duration,
        condition: &str,
    ) -> Result<bool, RedisError> {
        let mut set = cmd("SET");
        set.arg(self.redis.keys.session(id))
            .arg(json)
            .arg(condition);
        set.arg("PX").arg(millis(ttl));
        let written: Option<String> = self.redis.command(operation, &set).await?;
        Ok(written.is_some())
    }

    async fn get(&self, id: &str) -> Result<Option<Vec<u8>>, RedisError> {
        let mut get = cmd("GET");
        get.arg(self.redis.keys.session(id));
        self.redis.command("load a session", &get).await
    }
}

#[async_trait]
impl SessionStore for RedisSessions {
    async fn load(&self, id: &str) -> Result<Option<SessionRecord>, StoreError> {
        let Some(json) = self.get(id).await? else {
            return Ok(None);
        };
        let record = serde_json::from_slice(&json)
            .map_err(|error| RedisError::malformed("load a session", error))?;
        Ok(Some(record))
    }

    async fn insert(
        &self,
        id: &str,
        record: SessionRecord,
        ttl: Duration,
    ) -> Result<bool, StoreError> {
        let json = self.encode(&record)?;
        Ok(self.set("insert a session", id, &json, ttl, "NX").await?)
    }

    async fn replace(
        &self,
        id: &str,
        record: SessionRecord,
        ttl: Duration,
    ) -> Result<bool, StoreError> {
        let json = self.encode(&record)?;
        Ok(self.set("replace a session", id, &json, ttl, "XX").await?)
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

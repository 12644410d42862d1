//! The store of webhook subscriptions.

use std::time::Duration;

use async_trait::async_trait;
use hmac_sha256::Hash;
use mcp_core::store::StoreError;
use mcp_events::{WebhookLimits, WebhookRecord, WebhookStore, WebhookWrite};
use redis::{FromRedisValue, Script, ToRedisArgs, cmd};

use crate::connection::{Commands, millis, script};
use crate::error::RedisError;

/// The number of URLs that are remembered after they have agreed to receive events.
const MAX_VERIFIED: i64 = 10_000;

/// A store of webhook subscriptions in Redis. [`Redis::webhooks`](crate::Redis::webhooks) creates it.
///
/// All nodes share the subscriptions and their limits. One node at a time delivers a
/// subscription's events; when it dies, another one continues after the end of its lease. The records contain the
/// secrets of the signatures: protect Redis like a database of passwords.
///
/// # Examples
///
/// ```no_run
/// use mcp::events::{Events, HttpWebhooks, Webhooks};
/// use mcp::redis::Redis;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let redis = Redis::connect("redis://cache:6379").await?.prefix("shop");
/// let webhooks = Webhooks::new(HttpWebhooks::new()?).store(redis.webhooks());
/// let events = Events::with_log(redis.event_log()).webhooks(webhooks);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct RedisWebhooks {
    redis: Commands,
}

script!(PUT: "now.lua", "webhooks/index.lua", "webhooks/put.lua");
script!(SPACE: "now.lua", "webhooks/index.lua", "webhooks/space.lua");
script!(REMOVE: "now.lua", "webhooks/index.lua", "webhooks/remove.lua");
script!(CLAIM: "now.lua", "webhooks/index.lua", "webhooks/claim.lua");
script!(ADVANCE: "now.lua", "webhooks/index.lua", "webhooks/advance.lua");

impl RedisWebhooks {
    pub(crate) fn new(redis: Commands) -> Self {
        Self { redis }
    }

    async fn run<T: FromRedisValue + Send>(
        &self,
        operation: &'static str,
        script: &Script,
        id: Option<&str>,
        arguments: impl ToRedisArgs,
    ) -> Result<T, RedisError> {
        let mut call = script.key(&self.redis.keys.webhooks()[..]);
        call.key(id.map(|id| self.redis.keys.webhook(id)));
        call.arg(arguments);
        self.redis.script(operation, &call).await
    }

    /// Runs a script that writes a record, or checks whether it may.
    async fn write(
        &self,
        operation: &'static str,
        script: &Script,
        id: Option<&str>,
        arguments: impl ToRedisArgs,
    ) -> Result<WebhookWrite, StoreError> {
        let outcome: String = self.run(operation, script, id, arguments).await?;
        match outcome.as_str() {
            "stored" => Ok(WebhookWrite::Stored),
            "full" => Ok(WebhookWrite::Full),
            "owner" => Ok(WebhookWrite::OwnerFull),
            _ => Err(RedisError::malformed(operation, "an unknown outcome").into()),
        }
    }
}

/// Returns the name of an agreement: a digest of fixed length, as a URL may be long.
fn agreement(owner: &str, url: &str) -> String {
    // The length keeps different pairs different.
    let key = format!("{}:{owner}{url}", owner.len());
    let digest = Hash::hash(key.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[async_trait]
impl WebhookStore for RedisWebhooks {
    async fn put(
        &self,
        record: WebhookRecord,
        ttl: Duration,
        limits: &WebhookLimits,
    ) -> Result<WebhookWrite, StoreError> {
        let WebhookRecord {
            id,
            owner,
            subscription,
            progress,
            ..
        } = &record;
        let limits = (limits.subscriptions, limits.subscriptions_per_owner);
        let arguments = (id, owner, subscription, progress, millis(ttl), limits);
        self.write("store a webhook", &PUT, Some(id), arguments)
            .await
    }

    async fn check_space(
        &self,
        owner: &str,
        limits: &WebhookLimits,
    ) -> Result<WebhookWrite, StoreError> {
        let limits = (limits.subscriptions, limits.subscriptions_per_owner);
        self.write(
            "check the space for a webhook",
            &SPACE,
            None,
            (owner, limits),
        )
        .await
    }

    async fn load(&self, id: &str) -> Result<Option<WebhookRecord>, StoreError> {
        let mut get = cmd("HMGET");
        get.arg(self.redis.keys.webhook(id)).arg(&["o", "s", "p"]);
        let found = self.redis.command("load a webhook", &get);
        let (owner, subscription, progress): (Option<String>, Option<String>, Option<String>) =
            found.await?;
        let fields = owner.zip(subscription).zip(progress);
        Ok(fields.map(|((owner, subscription), progress)| {
            WebhookRecord::new(id, owner, subscription, progress)
        }))
    }

    async fn remove(&self, id: &str) -> Result<bool, StoreError> {
        Ok(self.run("remove a webhook", &REMOVE, Some(id), id).await?)
    }

    async fn claim(
        &self,
        node: &str,
        lease: Duration,
        limit: usize,
    ) -> Result<Vec<String>, StoreError> {
        let arguments = (node, millis(lease), limit);
        Ok(self.run("claim webhooks", &CLAIM, None, arguments).await?)
    }

    async fn advance(&self, id: &str, node: &str, progress: String) -> Result<bool, StoreError> {
        let arguments = (id, node, progress);
        let stored = self.run("record a delivery", &ADVANCE, Some(id), arguments);
        Ok(stored.await?)
    }

    async fn set_verified(&self, owner: &str, url: &str) -> Result<(), StoreError> {
        let key = self.redis.keys.verified_webhooks();
        let time = std::time::SystemTime::now();
        let time = time
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap_or_default();
        let mut commands = redis::pipe();
        let member = (time.as_secs(), agreement(owner, url));
        commands.cmd("ZADD").arg(&key).arg(member);
        let newest = -MAX_VERIFIED - 1;
        commands.cmd("ZREMRANGEBYRANK").arg(&key).arg(0).arg(newest);
        let operation = "remember a verified webhook";
        let (_, _): (i64, i64) = self.redis.pipeline(operation, &commands).await?;
        Ok(())
    }

    async fn is_verified(&self, owner: &str, url: &str) -> Result<bool, StoreError> {
        let mut get = cmd("ZSCORE");
        get.arg(self.redis.keys.verified_webhooks())
            .arg(agreement(owner, url));
        let operation = "find a verified webhook";
        let score: Option<f64> = self.redis.command(operation, &get).await?;
        Ok(score.is_some())
    }
}

//! The store of webhook subscriptions.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use hmac_sha256::Hash;
use mcp_core::store::StoreError;
use mcp_events::{WebhookLimits, WebhookRecord, WebhookStore, WebhookWrite};
use redis::{FromRedisValue, Script, cmd};

use crate::RedisError;
use crate::connection::{Commands, ScriptCall, millis};

/// The number of URLs that are remembered after they have agreed to receive events.
const MAX_VERIFIED: i64 = 10_000;

/// A store of webhook subscriptions in Redis. [`Redis::webhooks`](crate::Redis::webhooks) creates it.
///
/// All nodes share the subscriptions and their limits. One node at a time delivers the events of a
/// subscription; when it dies, another one continues after the end of its lease. The records contain the
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
#[derive(Clone)]
pub struct RedisWebhooks {
    redis: Commands,
    scripts: Arc<WebhookScripts>,
}

struct WebhookScripts {
    put: Script,
    space: Script,
    remove: Script,
    claim: Script,
    advance: Script,
}

impl WebhookScripts {
    fn new() -> Self {
        let script = |body| Script::new(&format!("{}{body}", include_str!("webhooks/index.lua")));
        Self {
            put: script(include_str!("webhooks/put.lua")),
            space: script(include_str!("webhooks/space.lua")),
            remove: script(include_str!("webhooks/remove.lua")),
            claim: script(include_str!("webhooks/claim.lua")),
            advance: script(include_str!("webhooks/advance.lua")),
        }
    }
}

impl RedisWebhooks {
    pub(crate) fn new(redis: Commands) -> Self {
        Self {
            redis,
            scripts: Arc::new(WebhookScripts::new()),
        }
    }

    async fn run<T: FromRedisValue + Send>(
        &self,
        operation: &'static str,
        script: &Script,
        id: Option<&str>,
        arguments: &[&str],
    ) -> Result<T, RedisError> {
        let mut keys = self.redis.keys.webhooks().to_vec();
        keys.extend(id.map(|id| self.redis.keys.webhook(id)));
        let arguments: Vec<&[u8]> = arguments
            .iter()
            .map(|argument| argument.as_bytes())
            .collect();
        let call = ScriptCall {
            script,
            keys: &keys,
            arguments: &arguments,
        };
        self.redis.script(operation, &call).await
    }
}

/// The name of an agreement: a digest of fixed length, as a URL may be long.
fn agreement(owner: &str, url: &str) -> String {
    // The length keeps different pairs different.
    let key = format!("{}:{owner}{url}", owner.len());
    let digest = Hash::hash(key.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn read_outcome(operation: &'static str, outcome: &str) -> Result<WebhookWrite, StoreError> {
    match outcome {
        "stored" => Ok(WebhookWrite::Stored),
        "full" => Ok(WebhookWrite::Full),
        "owner" => Ok(WebhookWrite::OwnerFull),
        _ => Err(RedisError::malformed(operation, "an unknown outcome").into()),
    }
}

#[async_trait]
impl WebhookStore for RedisWebhooks {
    async fn put(
        &self,
        record: WebhookRecord,
        ttl: Duration,
        limits: &WebhookLimits,
    ) -> Result<WebhookWrite, StoreError> {
        let operation = "store a webhook";
        let numbers = [
            millis(ttl).to_string(),
            limits.subscriptions.to_string(),
            limits.subscriptions_per_owner.to_string(),
        ];
        let arguments = [
            &*record.id,
            &record.owner,
            &record.subscription,
            &record.progress,
            &numbers[0],
            &numbers[1],
            &numbers[2],
        ];
        let id = Some(&*record.id);
        let outcome: String = self
            .run(operation, &self.scripts.put, id, &arguments)
            .await?;
        read_outcome(operation, &outcome)
    }

    async fn check_space(
        &self,
        owner: &str,
        limits: &WebhookLimits,
    ) -> Result<WebhookWrite, StoreError> {
        let operation = "check the space for a webhook";
        let arguments = [
            owner,
            &limits.subscriptions.to_string(),
            &limits.subscriptions_per_owner.to_string(),
        ];
        let outcome: String = self
            .run(operation, &self.scripts.space, None, &arguments)
            .await?;
        read_outcome(operation, &outcome)
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
        let operation = "remove a webhook";
        let removed = self
            .run(operation, &self.scripts.remove, Some(id), &[id])
            .await;
        Ok(removed?)
    }

    async fn claim(
        &self,
        node: &str,
        lease: Duration,
        limit: usize,
    ) -> Result<Vec<String>, StoreError> {
        let (lease, limit) = (millis(lease).to_string(), limit.to_string());
        let arguments = [node, &lease, &limit];
        let claimed = self.run("claim webhooks", &self.scripts.claim, None, &arguments);
        Ok(claimed.await?)
    }

    async fn advance(&self, id: &str, node: &str, progress: String) -> Result<bool, StoreError> {
        let arguments = [id, node, &progress];
        let operation = "record a delivery";
        let stored = self.run(operation, &self.scripts.advance, Some(id), &arguments);
        Ok(stored.await?)
    }

    async fn set_verified(&self, owner: &str, url: &str) -> Result<(), StoreError> {
        let key = self.redis.keys.verified_webhooks();
        let time = std::time::SystemTime::now();
        let time = time
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap_or_default();
        let mut commands = redis::pipe();
        commands
            .cmd("ZADD")
            .arg(&key)
            .arg(time.as_secs())
            .arg(agreement(owner, url));
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
        let found = self.redis.command(operation, &get);
        let score: Option<f64> = found.await?;
        Ok(score.is_some())
    }
}

impl fmt::Debug for RedisWebhooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisWebhooks")
            .field("keys", &self.redis.keys)
            .field("timeout", &self.redis.timeout)
            .finish_non_exhaustive()
    }
}

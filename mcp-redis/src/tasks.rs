//! The store of tasks.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcp_core::store::{StoreError, TaskLimits, TaskRecord, TaskStore, TaskWrite};
use redis::{Script, cmd};
use tokio::time::timeout;

use crate::RedisError;
use crate::connection::{Commands, ScriptCall, millis};
use crate::pub_sub::{PubSub, Receiver};
use crate::watchers::Watchers;
use crate::writer::Writer;

/// The longest wait for a message about a change. Afterwards the task is read again: Redis does not
/// publish that a task has expired.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// A store of tasks in Redis, which expires them by itself. [`Redis::tasks`](crate::Redis::tasks) creates
/// it.
///
/// All tasks of a prefix share the limits of `Tasks`, whatever node created them. Changes are published,
/// so that an answer or a cancellation on one node reaches the running call on another one at once.
///
/// # Examples
///
/// ```no_run
/// use mcp::prelude::*;
/// use mcp::redis::Redis;
/// use mcp::tasks::Tasks;
///
/// # async fn run() -> Result<(), mcp::redis::RedisError> {
/// let redis = Redis::connect("redis://cache:6379").await?.prefix("studio");
/// let server = Server::new("studio", "1.0.0").tasks(Tasks::with_store(redis.tasks()));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct RedisTasks {
    redis: Commands,
    writer: Arc<Writer>,
    scripts: Arc<TaskScripts>,
    watchers: Arc<Watchers>,
    /// Keeps the subscription.
    _pub_sub: Arc<PubSub>,
}

struct TaskScripts {
    insert: Script,
    replace: Script,
    remove: Script,
}

impl TaskScripts {
    fn new() -> Self {
        let script = |body| Script::new(&format!("{}{body}", include_str!("tasks/totals.lua")));
        Self {
            insert: script(include_str!("tasks/insert.lua")),
            replace: script(include_str!("tasks/replace.lua")),
            remove: script(include_str!("tasks/remove.lua")),
        }
    }
}

impl RedisTasks {
    pub(crate) fn new(redis: Commands, pub_sub: Arc<PubSub>) -> Self {
        let watchers = Arc::new(Watchers::default());
        let receiver: Arc<dyn Receiver> = watchers.clone();
        pub_sub.subscribe(redis.keys.task_changes(), &receiver);
        Self {
            redis,
            writer: Arc::new(Writer::new()),
            scripts: Arc::new(TaskScripts::new()),
            watchers,
            _pub_sub: pub_sub,
        }
    }

    async fn run(
        &self,
        operation: &'static str,
        script: &Script,
        id: &str,
        arguments: &[&[u8]],
    ) -> Result<TaskWrite, RedisError> {
        let call = ScriptCall {
            script,
            keys: &self.redis.keys.task_and_totals(id),
            arguments,
        };
        let outcome: String = self.redis.script(operation, &call).await?;
        match outcome.as_str() {
            "stored" => Ok(TaskWrite::Stored),
            "conflict" => Ok(TaskWrite::Conflict),
            "gone" => Ok(TaskWrite::Gone),
            "full" => Ok(TaskWrite::Full),
            "owner" => Ok(TaskWrite::PrincipalFull),
            _ => Err(RedisError::malformed(operation, "an unknown outcome")),
        }
    }

    /// Returns the revision of a task and the time until it expires.
    async fn revision(&self, id: &str) -> Result<Option<(u64, Duration)>, RedisError> {
        let key = self.redis.keys.task(id);
        let mut read = redis::pipe();
        read.cmd("HGET").arg(&key).arg("v");
        read.cmd("PTTL").arg(&key);
        let (revision, ttl): (Option<u64>, i64) =
            self.redis.pipeline("watch a task", &read).await?;
        let ttl = Duration::from_millis(u64::try_from(ttl).unwrap_or(0));
        Ok(revision.map(|revision| (revision, ttl)))
    }
}

fn encode(operation: &'static str, record: &TaskRecord) -> Result<Vec<u8>, RedisError> {
    serde_json::to_vec(record).map_err(|error| RedisError::malformed(operation, error))
}

/// Returns the name of an owner in the totals, empty for callers without identity.
fn owner_name(record: &TaskRecord) -> String {
    let owner = record.owner.as_ref();
    // The length keeps different pairs different.
    owner.map_or_else(String::new, |(issuer, subject)| {
        format!("{}:{issuer}{subject}", issuer.len())
    })
}

#[async_trait]
impl TaskStore for RedisTasks {
    async fn insert(
        &self,
        record: TaskRecord,
        ttl: Duration,
        limits: &TaskLimits,
    ) -> Result<TaskWrite, StoreError> {
        let operation = "insert a task";
        let id = &record.task.task_id;
        let arguments = [
            record.revision.to_string(),
            self.writer.next(),
            millis(ttl).to_string(),
            owner_name(&record),
            limits.tasks.to_string(),
            limits.tasks_per_principal.to_string(),
            limits.bytes.to_string(),
        ];
        let json = encode(operation, &record)?;
        let mut all: Vec<&[u8]> = vec![id.as_bytes(), &json];
        all.extend(arguments.iter().map(String::as_bytes));
        Ok(self.run(operation, &self.scripts.insert, id, &all).await?)
    }

    async fn load(&self, id: &str) -> Result<Option<TaskRecord>, StoreError> {
        let operation = "load a task";
        let mut get = cmd("HGET");
        get.arg(self.redis.keys.task(id)).arg("r");
        let json: Option<Vec<u8>> = self.redis.command(operation, &get).await?;
        let Some(json) = json else { return Ok(None) };
        let record = serde_json::from_slice(&json);
        Ok(Some(record.map_err(|error| {
            RedisError::malformed(operation, error)
        })?))
    }

    async fn replace(
        &self,
        record: TaskRecord,
        limits: &TaskLimits,
    ) -> Result<TaskWrite, StoreError> {
        let operation = "replace a task";
        let id = &record.task.task_id;
        let Some(previous) = record.revision.checked_sub(1) else {
            return Ok(TaskWrite::Conflict);
        };
        let arguments = [
            record.revision.to_string(),
            self.writer.next(),
            previous.to_string(),
            limits.bytes.to_string(),
            self.redis.keys.task_changes(),
        ];
        let json = encode(operation, &record)?;
        let mut all: Vec<&[u8]> = vec![id.as_bytes(), &json];
        all.extend(arguments.iter().map(String::as_bytes));
        Ok(self.run(operation, &self.scripts.replace, id, &all).await?)
    }

    async fn remove(&self, id: &str) -> Result<(), StoreError> {
        let channel = self.redis.keys.task_changes();
        let arguments = [id.as_bytes(), channel.as_bytes()];
        self.run("remove a task", &self.scripts.remove, id, &arguments)
            .await?;
        Ok(())
    }

    async fn changed(&self, id: &str, revision: u64) -> Result<(), StoreError> {
        let watch = self.watchers.watch(id);
        let mut changed = std::pin::pin!(watch.changed.notified());
        // A change after this line wakes the wait. One before it is visible in the stored revision.
        changed.as_mut().enable();
        match self.revision(id).await? {
            Some((stored, ttl)) if stored == revision => {
                // Early is allowed: the caller reads the task again.
                let _ = timeout(ttl.min(MAX_WAIT), changed).await;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    async fn keep_node(&self, node: &str, ttl: Duration) -> Result<(), StoreError> {
        let mut set = cmd("SET");
        set.arg(self.redis.keys.task_node(node)).arg(1);
        set.arg("PX").arg(millis(ttl));
        let kept = self.redis.command("keep a node of tasks", &set);
        let () = kept.await?;
        Ok(())
    }

    async fn has_node(&self, node: &str) -> Result<bool, StoreError> {
        let mut exists = cmd("EXISTS");
        exists.arg(self.redis.keys.task_node(node));
        let found = self.redis.command("check a node of tasks", &exists);
        Ok(found.await?)
    }
}

impl fmt::Debug for RedisTasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisTasks")
            .field("keys", &self.redis.keys)
            .field("timeout", &self.redis.timeout)
            .finish_non_exhaustive()
    }
}

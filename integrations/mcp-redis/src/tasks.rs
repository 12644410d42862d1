//! The task store.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcp_core::store::{StoreError, TaskLimits, TaskRecord, TaskStore, TaskWrite};
use redis::{Script, ToRedisArgs, cmd};

use crate::connection::{Commands, from_json, millis, random_name, script, to_json};
use crate::error::RedisError;
use crate::pub_sub::PubSub;
use crate::watchers::Watchers;

/// The longest wait for a message about a change. Afterwards the task is read again: Redis does not
/// publish that a task has expired.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// A task store in Redis, which expires them by itself. [`Redis::tasks`](crate::Redis::tasks) creates
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
#[derive(Debug, Clone)]
pub struct RedisTasks {
    redis: Commands,
    watchers: Arc<Watchers>,
    /// Keeps the subscription.
    _pub_sub: Arc<PubSub>,
}

script!(INSERT: "now.lua", "tasks/totals.lua", "tasks/insert.lua");
script!(REPLACE: "now.lua", "tasks/totals.lua", "tasks/replace.lua");
script!(REMOVE: "now.lua", "tasks/totals.lua", "tasks/remove.lua");

impl RedisTasks {
    pub(crate) fn new(redis: Commands, pub_sub: Arc<PubSub>) -> Self {
        let watchers = Arc::new(Watchers::default());
        pub_sub.subscribe(redis.keys.task_changes(), &watchers);
        Self {
            redis,
            watchers,
            _pub_sub: pub_sub,
        }
    }

    async fn run(
        &self,
        operation: &'static str,
        script: &Script,
        id: &str,
        arguments: impl ToRedisArgs,
    ) -> Result<TaskWrite, RedisError> {
        let mut call = script.key(&self.redis.keys.task_and_totals(id)[..]);
        call.arg(id).arg(arguments);
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

    /// Returns a task's revision and the time until it expires.
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

/// Returns the name of an owner in the totals, empty for callers without identity.
fn owner_name(record: &TaskRecord) -> String {
    let owner = record.owner.principal();
    // The length keeps different pairs different.
    owner.map_or_else(String::new, |owner| {
        format!("{}:{}{}", owner.issuer.len(), owner.issuer, owner.subject)
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
        let arguments = (
            to_json(operation, &record)?,
            (record.revision, random_name(), millis(ttl)),
            owner_name(&record),
            (limits.tasks, limits.tasks_per_principal, limits.bytes),
        );
        Ok(self.run(operation, &INSERT, id, arguments).await?)
    }

    async fn load(&self, id: &str) -> Result<Option<TaskRecord>, StoreError> {
        let operation = "load a task";
        let mut get = cmd("HGET");
        get.arg(self.redis.keys.task(id)).arg("r");
        let json: Option<Vec<u8>> = self.redis.command(operation, &get).await?;
        let record = json.map(|json| from_json(operation, &json));
        Ok(record.transpose()?)
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
        let arguments = (
            to_json(operation, &record)?,
            (record.revision, random_name(), previous, limits.bytes),
            self.redis.keys.task_changes(),
        );
        Ok(self.run(operation, &REPLACE, id, arguments).await?)
    }

    async fn remove(&self, id: &str) -> Result<(), StoreError> {
        let channel = self.redis.keys.task_changes();
        self.run("remove a task", &REMOVE, id, channel).await?;
        Ok(())
    }

    async fn changed(&self, id: &str, revision: u64) -> Result<(), StoreError> {
        let check = async {
            let found = self.revision(id).await?;
            let unchanged = found.filter(|(stored, _)| *stored == revision);
            Ok(unchanged.map(|(_, ttl)| ttl.min(MAX_WAIT)))
        };
        self.watchers.wait(id, check).await
    }

    async fn keep_node(&self, node: &str, ttl: Duration) -> Result<(), StoreError> {
        let key = self.redis.keys.task_node(node);
        let set = self.redis.set("keep a node of tasks", key, 1, ttl, None);
        set.await?;
        Ok(())
    }

    async fn has_node(&self, node: &str) -> Result<bool, StoreError> {
        let mut exists = cmd("EXISTS");
        exists.arg(self.redis.keys.task_node(node));
        Ok(self.redis.command("check a node of tasks", &exists).await?)
    }
}

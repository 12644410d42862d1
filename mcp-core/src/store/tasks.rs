//! Task stores, for other nodes and for restarts.

use std::time::Duration;

use async_trait::async_trait;
use mcp_types::InputResponses;
use mcp_types::ext::tasks::Task;
use serde::{Deserialize, Serialize};

use super::StoreError;
use crate::authorization::{CallerKey, Principal};

/// A task as a store keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TaskRecord {
    /// The task, as `tasks/get` returns it.
    pub task: Task,
    /// The caller that created the task. A task of a caller without identity belongs to every caller without
    /// identity that knows its id.
    // spec: TASK-22
    #[serde(rename = "caller")]
    pub owner: CallerKey,
    /// The node that runs the task.
    pub node: Box<str>,
    /// Responses that were accepted and that the running call has not received.
    pub answers: InputResponses,
    /// Number of changes since the task was created.
    pub revision: u64,
}

impl TaskRecord {
    /// Creates the record of a new task.
    pub fn new(task: Task, owner: Option<&Principal>, node: impl Into<Box<str>>) -> Self {
        Self {
            task,
            owner: CallerKey::new(owner),
            node: node.into(),
            answers: InputResponses::new(),
            revision: 0,
        }
    }

    /// Returns the size of the record as JSON, in bytes.
    pub fn size(&self) -> usize {
        serde_json::to_vec(self).map_or(0, |json| json.len())
    }
}

/// The limits of a task store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskLimits {
    /// The number of tasks.
    pub tasks: usize,
    /// The number of tasks per principal. Callers without identity have only the common limit.
    pub tasks_per_principal: usize,
    /// The total size of the records as JSON, in bytes.
    pub bytes: usize,
}

impl Default for TaskLimits {
    fn default() -> Self {
        Self {
            tasks: 10_000,
            tasks_per_principal: 100,
            bytes: 256 << 20,
        }
    }
}

/// The outcome of a write to a task store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskWrite {
    /// The record was stored.
    Stored,
    /// The store has another revision of the task. Load it, and repeat the change.
    Conflict,
    /// The task was removed or has expired.
    Gone,
    /// A limit of the whole store is reached.
    Full,
    /// The principal has as many tasks as one principal may have.
    PrincipalFull,
}

/// A task store. The running node and the nodes that answer `tasks/get`, `tasks/update` and
/// `tasks/cancel` communicate only through it.
///
/// Every write except the first names the revision that it replaces. Check and write must be atomic;
/// a script or a compare-and-set command of a store such as Redis does both. The server limits the
/// time of each call. Errors are logged and not sent to clients.
///
/// # Examples
///
/// ```
/// use mcp::core::store::{MemoryTaskStore, TaskLimits, TaskRecord, TaskStore, TaskWrite};
/// use mcp::types::ext::tasks::Task;
/// use std::time::Duration;
///
/// # futures_util::future::FutureExt::now_or_never(async {
/// let store = MemoryTaskStore::default();
/// let record = TaskRecord::new(Task::new("t-1", "2026-07-28T12:00:00Z"), None, "node-1");
/// let written = store.insert(record, Duration::from_secs(60), &TaskLimits::default()).await?;
/// assert_eq!(written, TaskWrite::Stored);
/// assert!(store.load("t-1").await?.is_some());
/// # Ok::<(), mcp::core::store::StoreError>(())
/// # }).unwrap().unwrap();
/// ```
#[async_trait]
pub trait TaskStore: Send + Sync + 'static {
    /// Stores a new task for `ttl`, if the limits allow it. A later [`load`](Self::load) on any node
    /// finds it.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] when the task was not stored.
    async fn insert(
        &self,
        record: TaskRecord,
        ttl: Duration,
        limits: &TaskLimits,
    ) -> Result<TaskWrite, StoreError>;

    /// Returns a task. `None` when it was removed or has expired.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] when the store is not available.
    async fn load(&self, id: &str) -> Result<Option<TaskRecord>, StoreError>;

    /// Replaces the record with the previous revision (`record.revision - 1`). The task expires when
    /// it would have expired before.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] when the record was not stored.
    async fn replace(
        &self,
        record: TaskRecord,
        limits: &TaskLimits,
    ) -> Result<TaskWrite, StoreError>;

    /// Removes a task. Succeeds when there is none.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] when the task may still be stored.
    async fn remove(&self, id: &str) -> Result<(), StoreError>;

    /// Waits until the stored revision of a task differs from `revision`, or the task is gone. It may
    /// return early.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] when changes cannot be observed.
    async fn changed(&self, id: &str, revision: u64) -> Result<(), StoreError>;

    /// Marks a node as alive for `ttl` from now on. Nodes that run tasks call it at intervals.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] when the mark was not stored.
    async fn keep_node(&self, node: &str, ttl: Duration) -> Result<(), StoreError>;

    /// Returns true if a node is marked as alive. The tasks of other nodes have ended without a result.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] when the store is not available.
    async fn has_node(&self, node: &str) -> Result<bool, StoreError>;

    /// Frees the memory of expired tasks. A server that has created tasks calls it at intervals. Stores
    /// that expire records by themselves need no implementation.
    fn purge(&self) {}
}

//! Settings, the store, and the tasks that run on this node.

use std::collections::HashSet;
use std::future::Future;
use std::sync::{Arc, Weak};
use std::time::Duration;

use mcp_core::Fault;
use mcp_core::deadline::finite;
use mcp_core::store::{StoreError, TaskLimits, TaskRecord, TaskStore, TaskWrite};
use parking_lot::Mutex;
use tokio::time::{Instant, sleep, timeout};

use crate::counters::Counters;
use crate::outcome::Outcome;

/// The time limit of one store call.
const STORE_TIMEOUT: Duration = Duration::from_secs(10);
/// The time between two marks of a node that runs tasks, and between two store sweeps.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// The time after which a node without a mark counts as dead.
pub(crate) const LEASE: Duration = Duration::from_secs(30);
/// Maximum attempts at a change while other nodes change the same task.
const ATTEMPTS: usize = 32;

/// Settings, the store, and the tasks that run on this node.
pub(crate) struct Shared {
    pub(crate) store: Arc<dyn TaskStore>,
    pub(crate) limits: TaskLimits,
    /// `None`: unlimited.
    pub(crate) ttl: Option<Duration>,
    pub(crate) poll_interval: Duration,
    /// The size of one record, in bytes.
    pub(crate) max_task_bytes: usize,
    pub(crate) counters: Arc<Counters>,
    state: Mutex<NodeState>,
}

#[derive(Default)]
struct NodeState {
    node: Option<Box<str>>,
    running: HashSet<Box<str>>,
    marked: Option<Instant>,
    /// The time when the last task of this node expires.
    last_expiry: Option<Instant>,
    has_keeper: bool,
}

/// The outcome of [`Shared::change`].
pub(crate) enum Changed {
    /// The record as it is stored now.
    Stored(Box<TaskRecord>),
    Gone,
    /// The record does not fit into the store.
    Full,
}

impl Changed {
    /// Returns the record as it is stored now.
    ///
    /// # Errors
    ///
    /// Returns the fault of an unknown task if it is gone, and `full` if it does not fit.
    pub(crate) fn record(self, full: Fault) -> Result<TaskRecord, Fault> {
        match self {
            Self::Stored(record) => Ok(*record),
            Self::Gone => Err(Fault::no_such_task()),
            Self::Full => Err(full),
        }
    }
}

impl Shared {
    pub(crate) fn new(store: Arc<dyn TaskStore>) -> Self {
        Self {
            store,
            limits: TaskLimits::default(),
            ttl: Some(Duration::from_secs(3600)),
            poll_interval: Duration::from_secs(1),
            max_task_bytes: 4 << 20,
            counters: Arc::default(),
            state: Mutex::default(),
        }
    }

    /// Returns this node's id, which is random.
    pub(crate) fn node(&self) -> Result<Box<str>, Fault> {
        let mut state = self.state.lock();
        if let Some(node) = &state.node {
            return Ok(node.clone());
        }
        let node: Box<str> = crate::ids::random()?.into();
        state.node = Some(node.clone());
        Ok(node)
    }

    /// Runs a call of the store with a time limit. The error goes to the log.
    pub(crate) async fn call<T>(
        &self,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, Fault> {
        let error: StoreError = match timeout(STORE_TIMEOUT, call).await {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(error)) => error,
            Err(elapsed) => StoreError::new(elapsed),
        };
        tracing::error!(error = %mcp_types::escaped(&error), "the store of tasks failed");
        Err(Fault::internal("the store of tasks is not available"))
    }

    pub(crate) async fn load(&self, id: &str) -> Result<Option<TaskRecord>, Fault> {
        self.call(self.store.load(id)).await
    }

    /// Changes a task that has not ended, until no other node changes it at the same time. `change`
    /// returns the record unchanged to leave the task as it is.
    pub(crate) async fn change(
        &self,
        id: &str,
        change: impl Fn(TaskRecord) -> Result<TaskRecord, Fault>,
    ) -> Result<Changed, Fault> {
        for _ in 0..ATTEMPTS {
            let Some(record) = self.load(id).await? else {
                return Ok(Changed::Gone);
            };
            if record.task.status.is_terminal() {
                return Ok(Changed::Stored(record.into()));
            }
            let mut next = change(record.clone())?;
            if next == record {
                return Ok(Changed::Stored(record.into()));
            }
            next.revision += 1;
            if next.size() > self.max_task_bytes {
                return Ok(Changed::Full);
            }
            let write = self.store.replace(next.clone(), &self.limits);
            match self.call(write).await? {
                TaskWrite::Stored => return Ok(Changed::Stored(next.into())),
                TaskWrite::Conflict => {}
                TaskWrite::Gone => return Ok(Changed::Gone),
                _ => return Ok(Changed::Full),
            }
        }
        Err(Fault::internal("the task is changed by too many requests"))
    }

    /// Returns the record of a task that ends: completed, failed or cancelled.
    pub(crate) fn finished(mut record: TaskRecord, outcome: &Outcome) -> TaskRecord {
        record.task = outcome.apply(record.task);
        record.answers.clear();
        record
    }

    /// Counts a task as running on this node, until the guard is dropped.
    pub(crate) fn start(self: &Arc<Self>, id: &str) -> RunningGuard {
        self.state.lock().running.insert(id.into());
        RunningGuard {
            shared: self.clone(),
            id: id.into(),
        }
    }

    /// Marks this node as alive, and keeps the mark and the store up to date while tasks run or are
    /// stored.
    pub(crate) async fn keep_alive(self: &Arc<Self>, node: &str) -> Result<(), Fault> {
        let now = Instant::now();
        let (needs_mark, needs_keeper) = {
            let mut state = self.state.lock();
            let marked = state.marked.filter(|marked| now < *marked + HEARTBEAT);
            let expiry = self.ttl.map(|ttl| now + finite(ttl));
            state.last_expiry = state.last_expiry.max(expiry);
            let needs_keeper = !std::mem::replace(&mut state.has_keeper, true);
            (marked.is_none(), needs_keeper)
        };
        if needs_keeper {
            tokio::spawn(keep(KeeperGuard(Arc::downgrade(self))));
        }
        if needs_mark {
            self.mark(node).await?;
        }
        Ok(())
    }

    async fn mark(&self, node: &str) -> Result<(), Fault> {
        self.call(self.store.keep_node(node, LEASE)).await?;
        self.state.lock().marked = Some(Instant::now());
        Ok(())
    }

    /// Returns true if the task still runs: here, or on a node that is alive.
    pub(crate) async fn is_running(&self, record: &TaskRecord) -> Result<bool, Fault> {
        {
            let state = self.state.lock();
            if state.node.as_deref() == Some(&*record.node) {
                return Ok(state.running.contains(&*record.task.task_id));
            }
        }
        self.call(self.store.has_node(&record.node)).await
    }

    /// Returns true while tasks of this node run or are stored.
    fn is_needed(&self) -> bool {
        let mut state = self.state.lock();
        let now = Instant::now();
        let is_stored = state.last_expiry.is_some_and(|expiry| now <= expiry);
        state.has_keeper = is_stored || !state.running.is_empty();
        state.has_keeper
    }
}

/// Marks the node and sweeps the store at intervals.
async fn keep(guard: KeeperGuard) {
    loop {
        sleep(HEARTBEAT).await;
        let Some(shared) = guard.0.upgrade() else {
            return;
        };
        shared.store.purge();
        if !shared.is_needed() {
            return;
        }
        if let Ok(node) = shared.node() {
            // The error is in the log, and the next heartbeat tries again.
            let _ = shared.mark(&node).await;
        }
    }
}

/// The right to run [`keep`]. A runtime that ends drops it.
struct KeeperGuard(Weak<Shared>);

impl Drop for KeeperGuard {
    fn drop(&mut self) {
        if let Some(shared) = self.0.upgrade() {
            shared.state.lock().has_keeper = false;
        }
    }
}

/// A task that runs on this node.
pub(crate) struct RunningGuard {
    shared: Arc<Shared>,
    id: Box<str>,
}

impl Drop for RunningGuard {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock();
        state.running.remove(&self.id);
        if state.running.is_empty() {
            state.running.shrink_to_fit();
        }
    }
}

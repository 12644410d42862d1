//! The engine and its settings.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_core::store::{MemoryTaskStore, TaskStore};
use mcp_core::{
    BoxFuture, ClientContext, Exchange, Extensions, Fault, Principal, Reply, ServerProfile,
    TaskCall, TaskChanges, TaskEngine, TaskMetrics, TaskMode,
};
use mcp_types::RawObject;
use tokio::time::Instant;

use crate::shared::Shared;
use crate::{methods, run, subscribe};

/// Runs tool calls as tasks; the argument of `Server::tasks`.
///
/// | setting | default |
/// |---|---|
/// | [`ttl`](Self::ttl) | 1 hour |
/// | [`poll_interval`](Self::poll_interval) | 1 s |
/// | [`max_tasks`](Self::max_tasks) | 10,000 |
/// | [`max_per_principal`](Self::max_per_principal) | 100 |
/// | [`max_bytes`](Self::max_bytes) | 256 MiB |
/// | [`max_task_bytes`](Self::max_task_bytes) | 4 MiB |
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// use mcp::tasks::Tasks;
///
/// let tasks = Tasks::in_memory()
///     .ttl(Duration::from_secs(24 * 3600))
///     .max_per_principal(20);
/// ```
pub struct Tasks(Arc<Shared>);

impl Tasks {
    /// Tasks in this process's memory. They end with it.
    pub fn in_memory() -> Self {
        // The runtime's clock, which tests can pause.
        Self::with_store(MemoryTaskStore::default().clock(|| Instant::now().into_std()))
    }

    /// Tasks in a store, which other nodes may share. When the process ends, its tasks fail: after at
    /// most 30 s, `tasks/get` on another node or after a restart reports it.
    pub fn with_store(store: impl TaskStore) -> Self {
        Self(Arc::new(Shared::new(Arc::new(store))))
    }

    /// Sets how long a task is kept after its creation; 1 hour by default. A task that still runs then
    /// is cancelled. `Duration::MAX` means without a limit.
    #[must_use]
    pub fn ttl(self, ttl: Duration) -> Self {
        self.configure(|shared| shared.ttl = (ttl < Duration::MAX).then_some(ttl))
    }

    /// Sets the interval at which clients should poll; 1 s by default.
    #[must_use]
    pub fn poll_interval(self, interval: Duration) -> Self {
        self.configure(|shared| shared.poll_interval = interval)
    }

    /// Sets the number of stored tasks, running and finished ones; 10,000 by default. Calls to tools
    /// with [`TaskMode::After`] are then answered directly; others fail with
    /// [`Fault::Overloaded`](mcp_core::Fault::Overloaded).
    #[must_use]
    pub fn max_tasks(self, tasks: usize) -> Self {
        self.configure(|shared| shared.limits.tasks = tasks)
    }

    /// Sets the number of stored tasks per principal; 100 by default. Further calls fail with
    /// [`Fault::RateLimited`](mcp_core::Fault::RateLimited). Callers without identity have only the common limit.
    #[must_use]
    pub fn max_per_principal(self, tasks: usize) -> Self {
        self.configure(|shared| shared.limits.tasks_per_principal = tasks)
    }

    /// Sets the total size of the stored tasks as JSON, in bytes; 256 MiB by default.
    #[must_use]
    pub fn max_bytes(self, bytes: usize) -> Self {
        self.configure(|shared| shared.limits.bytes = bytes)
    }

    /// Sets the size of one stored task with its result, its questions and their answers as JSON, in
    /// bytes; 4 MiB by default. A task with a larger result fails.
    #[must_use]
    pub fn max_task_bytes(self, bytes: usize) -> Self {
        self.configure(|shared| shared.max_task_bytes = bytes)
    }

    /// Returns a function that reads how many tasks this node runs and has ended, for metrics. Call it
    /// before the tasks are passed to the server.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::tasks::Tasks;
    ///
    /// let tasks = Tasks::in_memory();
    /// let metrics = tasks.metrics_reader();
    /// assert_eq!(metrics().open["working"], 0);
    /// ```
    pub fn metrics_reader(&self) -> impl Fn() -> TaskMetrics + Send + Sync + 'static + use<> {
        let counters = self.0.counters.clone();
        move || counters.read()
    }

    fn configure(mut self, change: impl FnOnce(&mut Shared)) -> Self {
        // There are no clones before the first call.
        if let Some(shared) = Arc::get_mut(&mut self.0) {
            change(shared);
        }
        self
    }
}

impl TaskEngine for Tasks {
    fn run(
        &self,
        exchange: Exchange,
        mode: TaskMode,
        profile: Arc<ServerProfile>,
        call: TaskCall,
    ) -> BoxFuture<'static, Reply> {
        run::run(&self.0, exchange, mode, profile, call)
    }

    fn answer(
        &self,
        method: &'static str,
        params: RawObject,
        _meta: Option<RawObject>,
        _facts: &Arc<ClientContext>,
        extensions: &Extensions,
    ) -> BoxFuture<'static, Result<RawObject, Fault>> {
        let principal: Option<Principal> = extensions.get().cloned();
        let shared = self.0.clone();
        Box::pin(async move { methods::answer(&shared, method, &params, principal.as_ref()).await })
    }

    fn subscribe(
        &self,
        ids: Vec<String>,
        _facts: &Arc<ClientContext>,
        extensions: &Extensions,
    ) -> BoxFuture<'static, Result<TaskChanges, Fault>> {
        Box::pin(subscribe::subscribe(
            self.0.clone(),
            ids,
            extensions.get().cloned(),
        ))
    }
}

impl fmt::Debug for Tasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tasks")
            .field("limits", &self.0.limits)
            .field("ttl", &self.0.ttl)
            .finish_non_exhaustive()
    }
}

//! Tool calls that become tasks (tasks extension): the interface between a service and the engine that
//! runs them.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use mcp_types::meta::keys;
use mcp_types::{ClientCapabilities, RawObject};

use super::exchange::Exchange;
use crate::connection::{ClientContext, Extensions, ServerProfile};
use crate::message::{Fault, Reply, ServerNotification};

/// Decides when a call of a tool becomes a task, for clients that declare the tasks extension.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskMode {
    /// The call never becomes a task. The default.
    #[default]
    Never,
    /// The call is answered directly if it is done within this time. Else it becomes a task.
    After(Duration),
    /// Every call becomes a task before the tool starts. Clients without the extension wait for the
    /// result.
    Always,
    /// Every call becomes a task before the tool starts. Clients without the extension receive the
    /// error -32021.
    Required,
}

/// Receives the reply of a call that became a task, when the task ends. A layer that measures calls inserts it
/// into the exchange's extensions. It is dropped without a reply when the task is cancelled or expires.
///
/// A layer sees only the reply that announces the task; without this type, the durations and failures of slow
/// tools would be in no metric and on no span.
#[derive(Clone)]
#[expect(clippy::exhaustive_structs, reason = "names a function")]
pub struct TaskReply(pub Arc<dyn Fn(&Reply) + Send + Sync>);

impl fmt::Debug for TaskReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TaskReply")
    }
}

/// The rest of a call: a tool's handler.
pub type TaskCall = Box<dyn FnOnce(Exchange) -> BoxFuture<'static, Reply> + Send>;

/// Runs tool calls as tasks, answers `tasks/get`, `tasks/update` and `tasks/cancel`, and publishes the
/// task changes. `mcp-tasks` has the server engine; a gateway has its own.
pub trait TaskEngine: Send + Sync + 'static {
    /// Runs a call: `call` is the tool's handler. The reply is that of the call, or the created task.
    /// `profile` is the server in the metadata of the task's result.
    // spec: TASK-02
    fn run(
        &self,
        exchange: Exchange,
        mode: TaskMode,
        profile: Arc<ServerProfile>,
        call: TaskCall,
    ) -> BoxFuture<'static, Reply>;

    /// Answers `tasks/get`, `tasks/update` or `tasks/cancel` of a client that declares the extension. `params` are without `_meta`, and `meta` is the
    /// request's `_meta`. `extensions` are those of the request: the caller's [`Principal`](crate::Principal), and
    /// values of layers.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::BadParams`] for malformed parameters and for a task that the caller does not
    /// have.
    fn answer(
        &self,
        method: &'static str,
        params: RawObject,
        meta: Option<RawObject>,
        facts: &Arc<ClientContext>,
        extensions: &Extensions,
    ) -> BoxFuture<'static, Result<RawObject, Fault>>;

    /// Subscribes to the task changes, for a client that declares the extension. `extensions` are those of the request.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::Internal`] when the store of the tasks fails.
    // spec: TASK-19
    fn subscribe(
        &self,
        ids: Vec<String>,
        facts: &Arc<ClientContext>,
        extensions: &Extensions,
    ) -> BoxFuture<'static, Result<TaskChanges, Fault>>;
}

impl ClientContext {
    /// Returns true if the client declares the tasks extension. Revisions without the extension count as not
    /// declared.
    // spec: TASK-01, TASK-03, TASK-23
    pub fn declares_tasks(&self) -> bool {
        self.version.has_task_extension() && self.capabilities.has_extension(keys::TASKS_EXTENSION)
    }
}

impl Fault {
    /// Creates the fault for a client that does not declare the tasks extension.
    // spec: TASK-04, TASK-23
    pub fn tasks_undeclared() -> Self {
        let required =
            Arc::new(ClientCapabilities::default().with_extension(keys::TASKS_EXTENSION, &()));
        Self::MissingCapability { required }
    }

    /// Creates the fault for a task that the caller does not have: unknown, expired, or of another caller.
    // spec: TASK-18, TASK-22
    pub fn no_such_task() -> Self {
        Self::bad_params("`params.taskId`: there is no such task; it may have expired")
    }
}

/// A subscription to tasks.
#[expect(clippy::exhaustive_structs, reason = "engines construct it")]
pub struct TaskChanges {
    /// The tasks that the client may see.
    pub granted: Vec<String>,
    /// The notifications. The stream merges changes that are not read, and ends when every task has.
    pub notifications: BoxStream<'static, ServerNotification>,
}

impl fmt::Debug for TaskChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskChanges")
            .field("granted", &self.granted.len())
            .finish_non_exhaustive()
    }
}

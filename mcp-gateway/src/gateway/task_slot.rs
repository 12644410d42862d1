//! The task that a server has created for a call.

use std::sync::Arc;

use parking_lot::Mutex;

use super::task_body::TaskBody;
use super::usage::Usage;

/// The slot for the task of a call. It is in the extensions of calls whose client declares tasks.
#[derive(Clone, Default)]
pub(super) struct TaskSlot(Arc<Mutex<Option<CreatedTask>>>);

/// A task that a server has created.
pub(super) struct CreatedTask {
    pub(super) server: Arc<str>,
    /// The tool, as the server names it.
    pub(super) tool: Arc<str>,
    pub(super) body: TaskBody,
    pub(super) usage: Usage,
}

impl TaskSlot {
    pub(super) fn set(&self, task: CreatedTask) {
        *self.0.lock() = Some(task);
    }

    pub(super) fn take(&self) -> Option<CreatedTask> {
        self.0.lock().take()
    }
}

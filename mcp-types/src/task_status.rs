//! Status and parameters that the tasks extension and the experimental tasks of 2025-11-25 share.

use serde::{Deserialize, Serialize};

use crate::text_enum::text_enum;

text_enum! {
    /// A task's status. The last three are final.
    // spec: TASK-07
    pub enum TaskStatus {
        /// The task runs.
        Working = "working",
        /// The task waits for input of the client.
        InputRequired = "input_required",
        /// The task is finished and has a result.
        Completed = "completed",
        /// The task failed and has an error.
        Failed = "failed",
        /// The task was cancelled.
        Cancelled = "cancelled",
    }
}

impl TaskStatus {
    /// Returns `true` if the status is final.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

/// Parameters of `tasks/get`, `tasks/cancel`, and `tasks/result` (2025-11-25).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TaskParams {
    /// The task's id.
    pub task_id: String,
}

impl<T: Into<String>> From<T> for TaskParams {
    fn from(task_id: T) -> Self {
        Self {
            task_id: task_id.into(),
        }
    }
}

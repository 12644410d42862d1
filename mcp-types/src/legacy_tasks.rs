//! The experimental tasks of 2025-11-25. Later revisions have an extension for it:
//! [`ext::tasks`](crate::ext::tasks).
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks>

pub use crate::ext::tasks::{TaskParams, TaskStatus};
use crate::json::members;
use crate::text::text_enum;
use crate::{Cursor, Meta, Settings};

text_enum! {
    /// Whether a tool may be called as a task.
    // spec: TASKL-01
    pub enum TaskSupport {
        /// It may not.
        Forbidden = "forbidden",
        /// It may.
        Optional = "optional",
        /// It has to be.
        Required = "required",
    }
}

/// A task: work whose result is fetched later.
///
/// It is also the result of `tasks/get` and `tasks/cancel`, and the parameters of
/// `notifications/tasks/status`.
// spec: TASKL-04
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Task {
    /// Names the task.
    pub task_id: String,
    /// How far it is.
    pub status: TaskStatus,
    /// More about how far it is, for people.
    pub status_message: Option<String>,
    /// When it was created, ISO 8601.
    pub created_at: String,
    /// When it changed last, ISO 8601.
    pub last_updated_at: String,
    /// How long it is kept after its creation, in milliseconds; without an end when `None`.
    pub ttl: Option<u64>,
    /// How often to ask for it, in milliseconds.
    pub poll_interval: Option<u64>,
    /// What it carries beside, where it is a result or the parameters of a notification.
    pub meta: Option<Meta>,
}

members!(Task as "a task" {
    "taskId" => task_id,
    "status" => status,
    "statusMessage" => status_message or nothing,
    "createdAt" => created_at,
    "lastUpdatedAt" => last_updated_at,
    "ttl" => ttl or default,
    "pollInterval" => poll_interval or nothing,
    "_meta" => meta or nothing,
});

impl Task {
    /// A task that was created just now and runs.
    #[inline]
    pub fn new(task_id: impl Into<String>, now: impl Into<String>, ttl: Option<u64>) -> Self {
        let now = now.into();
        Self {
            task_id: task_id.into(),
            status: TaskStatus::Working,
            status_message: None,
            created_at: now.clone(),
            last_updated_at: now,
            ttl,
            poll_interval: None,
            meta: None,
        }
    }

    /// Sets how far it is.
    #[must_use]
    #[inline]
    pub fn status(mut self, status: TaskStatus) -> Self {
        self.status = status;
        self
    }

    /// Says more about how far it is, for people.
    #[must_use]
    #[inline]
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.status_message = Some(message.into());
        self
    }

    /// Sets how often to ask for it, in milliseconds.
    #[must_use]
    #[inline]
    pub fn poll_interval(mut self, milliseconds: u64) -> Self {
        self.poll_interval = Some(milliseconds);
        self
    }
}

/// The member `task` of a request's parameters: run it as a task.
// spec: TASKL-01
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskMetadata {
    /// How long to keep the task after its creation, in milliseconds.
    pub ttl: Option<u64>,
}

members!(TaskMetadata as "how to run a task" {
    "ttl" => ttl or nothing,
});

impl TaskMetadata {
    /// Leaves it to the receiver how long the task is kept.
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how long to keep the task, in milliseconds.
    #[must_use]
    #[inline]
    pub fn ttl(mut self, milliseconds: u64) -> Self {
        self.ttl = Some(milliseconds);
        self
    }
}

/// The value of `_meta` that ties a message to a task.
// spec: META-15, TASKL-06
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RelatedTask {
    /// The task.
    pub task_id: String,
}

members!(RelatedTask as "the id of a task" {
    "taskId" => task_id,
});

impl RelatedTask {
    /// Belongs to a task.
    #[inline]
    pub fn new(task_id: impl Into<String>) -> Self {
        Self {
            task_id: task_id.into(),
        }
    }
}

/// The answer to a request that runs as a task.
// spec: TASKL-02
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CreateTaskResult {
    /// The task.
    pub task: Task,
    /// What the result carries beside.
    pub meta: Option<Meta>,
}

members!(CreateTaskResult as "a task that began" {
    "task" => task,
    "_meta" => meta or nothing,
});

impl CreateTaskResult {
    /// The request runs as a task.
    #[inline]
    pub fn new(task: Task) -> Self {
        Self { task, meta: None }
    }
}

/// The result of `tasks/list`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ListTasksResult {
    /// The tasks of this page.
    pub tasks: Vec<Task>,
    /// Where the list goes on; absent on the last page.
    pub next_cursor: Option<Cursor>,
    /// What the result carries beside.
    pub meta: Option<Meta>,
}

members!(ListTasksResult as "a list of tasks" {
    "tasks" => tasks,
    "nextCursor" => next_cursor or nothing,
    "_meta" => meta or nothing,
});

impl ListTasksResult {
    /// A page; the last one unless `next_cursor` is set.
    #[inline]
    pub fn new(tasks: Vec<Task>) -> Self {
        Self {
            tasks,
            ..Self::default()
        }
    }
}

/// The `tasks` capability of either side.
// spec: TASKL-01
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct TasksCapability {
    /// Tasks can be listed.
    pub list: Option<Settings>,
    /// Tasks can be cancelled.
    pub cancel: Option<Settings>,
    /// The requests that can run as tasks.
    pub requests: Option<TaskRequests>,
    /// Members that this library does not know.
    pub other: Settings,
}

members!(TasksCapability as "the tasks capability" {
    "list" => list or nothing,
    "cancel" => cancel or nothing,
    "requests" => requests or nothing,
} and other);

/// The requests that can run as tasks, by their first word.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct TaskRequests {
    /// Calls of tools, for servers.
    pub tools: Option<ToolTasks>,
    /// Sampling, for clients.
    pub sampling: Option<SamplingTasks>,
    /// Elicitation, for clients.
    pub elicitation: Option<ElicitationTasks>,
    /// Members that this library does not know.
    pub other: Settings,
}

members!(TaskRequests as "the requests that can run as tasks" {
    "tools" => tools or nothing,
    "sampling" => sampling or nothing,
    "elicitation" => elicitation or nothing,
} and other);

/// Writes the second word of a request that can run as a task.
macro_rules! second_word {
    ($(#[$doc:meta])* $name:ident { $(#[$field_doc:meta])* $key:literal => $field:ident }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default, PartialEq)]
        #[non_exhaustive]
        pub struct $name {
            $(#[$field_doc])*
            pub $field: Option<Settings>,
            /// Members that this library does not know.
            pub other: Settings,
        }

        members!($name as "requests that can run as tasks" { $key => $field or nothing, } and other);
    };
}

second_word! {
    /// Requests of tools that can run as tasks.
    ToolTasks {
        /// Calls can.
        "call" => call
    }
}

second_word! {
    /// Requests of sampling that can run as tasks.
    SamplingTasks {
        /// Messages can be made that way.
        "createMessage" => create_message
    }
}

second_word! {
    /// Requests of elicitation that can run as tasks.
    ElicitationTasks {
        /// Asking can.
        "create" => create
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Task, TaskStatus};

    #[test]
    fn a_task_without_end_says_so() {
        let task = Task::new("t", "2025-11-25T10:00:00Z", None).status(TaskStatus::Completed);
        let value = serde_json::to_value(&task).unwrap();
        assert_eq!(value["ttl"], json!(null));
        assert_eq!(serde_json::from_value::<Task>(value).unwrap(), task);
        assert!(task.status.is_terminal() && !TaskStatus::Working.is_terminal());
    }

    #[test]
    fn unknown_states_survive() {
        let status: TaskStatus = serde_json::from_str(r#""paused""#).unwrap();
        assert_eq!(serde_json::to_string(&status).unwrap(), r#""paused""#);
        assert!(!status.is_terminal());
    }
}

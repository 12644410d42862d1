//! The tasks extension: a tool answers at once, and its result is fetched later.
//!
//! Spec: <https://github.com/modelcontextprotocol/ext-tasks>

use crate::json::members;
use crate::text::text_enum;
use crate::{CallToolResult, ErrorObject, InputRequests, InputResponses, Meta, RawJson, RawObject};

/// The `resultType` of a result that is a task.
// spec: TASK-06
pub const RESULT_TYPE: &str = "task";

/// The settings of the extension, on both sides.
// spec: TASK-01
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TasksSettings {}

members!(TasksSettings as "settings of tasks" {
});

text_enum! {
    /// How far a task is. The last three never change any more.
    // spec: TASKL-04, TASK-07
    pub enum TaskStatus {
        /// It runs.
        Working = "working",
        /// It waits for input.
        InputRequired = "input_required",
        /// It is done and has a result.
        Completed = "completed",
        /// It failed and has an error.
        Failed = "failed",
        /// It was cancelled.
        Cancelled = "cancelled",
    }
}

impl TaskStatus {
    /// The task will not change any more.
    #[inline]
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

/// Parameters that only name a task: of `tasks/get` and `tasks/cancel`, and of the experimental
/// `tasks/result` of 2025-11-25.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskParams {
    /// Which task.
    pub task_id: String,
}

members!(TaskParams as "the id of a task" {
    "taskId" => task_id,
});

impl TaskParams {
    /// Names a task.
    #[inline]
    pub fn new(task_id: impl Into<String>) -> Self {
        Self {
            task_id: task_id.into(),
        }
    }
}

/// A task: the result of a `tools/call` that runs as one, the result of `tasks/get`, and the
/// parameters of `notifications/tasks`. `tasks/cancel` and `tasks/update` have empty results.
///
/// # Examples
///
/// ```
/// use mcp_types::CallToolResult;
/// use mcp_types::ext::tasks::{Task, TaskStatus};
///
/// let task = Task::new("t-1", "2026-07-28T12:00:00Z").poll_interval_ms(500);
/// let done = task.complete(&CallToolResult::from_text("done"), "2026-07-28T12:01:00Z")?;
/// assert_eq!(done.status, TaskStatus::Completed);
/// # Ok::<(), mcp_types::RawObjectError>(())
/// ```
// spec: TASK-06, TASK-11, TASK-19
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Task {
    /// Names the task. Nobody can guess it.
    // spec: TASK-22
    pub task_id: String,
    /// How far it is.
    pub status: TaskStatus,
    /// More about how far it is, for people.
    pub status_message: Option<String>,
    /// When it was created, ISO 8601.
    pub created_at: String,
    /// When it changed last, ISO 8601.
    pub last_updated_at: String,
    /// How long it is kept after its creation; without an end when `None`.
    pub ttl_ms: Option<u64>,
    /// How often to ask for it.
    pub poll_interval_ms: Option<u64>,
    /// All that it waits for, when it waits for input.
    pub input_requests: Option<InputRequests>,
    /// The result, when it is completed.
    pub result: Option<RawObject>,
    /// The error, when it failed.
    // spec: TASK-08
    pub error: Option<ErrorObject>,
    /// What it carries beside.
    pub meta: Option<Meta>,
}

members!(Task as "a task" {
    "taskId" => task_id,
    "status" => status,
    "statusMessage" => status_message or nothing,
    "createdAt" => created_at,
    "lastUpdatedAt" => last_updated_at,
    "ttlMs" => ttl_ms or default,
    "pollIntervalMs" => poll_interval_ms or nothing,
    "inputRequests" => input_requests or nothing,
    "result" => result or nothing,
    "error" => error or nothing,
    "_meta" => meta or nothing,
});

impl Task {
    /// A task that was created just now, runs, and is kept without an end.
    #[inline]
    pub fn new(task_id: impl Into<String>, now: impl Into<String>) -> Self {
        let now = now.into();
        Self {
            task_id: task_id.into(),
            status: TaskStatus::Working,
            status_message: None,
            created_at: now.clone(),
            last_updated_at: now,
            ttl_ms: None,
            poll_interval_ms: None,
            input_requests: None,
            result: None,
            error: None,
            meta: None,
        }
    }

    /// Sets how long it is kept after its creation.
    #[must_use]
    #[inline]
    pub fn ttl_ms(mut self, milliseconds: u64) -> Self {
        self.ttl_ms = Some(milliseconds);
        self
    }

    /// Sets how often to ask for it.
    #[must_use]
    #[inline]
    pub fn poll_interval_ms(mut self, milliseconds: u64) -> Self {
        self.poll_interval_ms = Some(milliseconds);
        self
    }

    /// Says more about how far it is, for people.
    #[must_use]
    #[inline]
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.status_message = Some(message.into());
        self
    }

    #[inline]
    fn turn(mut self, status: TaskStatus, now: impl Into<String>) -> Self {
        self.status = status;
        self.last_updated_at = now.into();
        self.input_requests = None;
        self.result = None;
        self.error = None;
        self
    }

    /// It runs (again).
    #[must_use]
    #[inline]
    pub fn work(self, now: impl Into<String>) -> Self {
        self.turn(TaskStatus::Working, now)
    }

    /// It waits for input.
    // spec: TASK-11, TASK-14
    #[must_use]
    #[inline]
    pub fn ask(self, requests: InputRequests, now: impl Into<String>) -> Self {
        let mut task = self.turn(TaskStatus::InputRequired, now);
        task.input_requests = Some(requests);
        task
    }

    /// It is done. A tool that says it failed is done, too.
    ///
    /// # Errors
    ///
    /// [`RawObjectError`](crate::RawObjectError) when the result holds something that JSON cannot
    /// have.
    // spec: TASK-08
    #[inline]
    pub fn complete(
        self,
        result: &CallToolResult,
        now: impl Into<String>,
    ) -> Result<Self, crate::RawObjectError> {
        let mut task = self.turn(TaskStatus::Completed, now);
        task.result = Some(RawObject::of(result)?);
        Ok(task)
    }

    /// It failed by an error of the protocol.
    // spec: TASK-08
    #[must_use]
    #[inline]
    pub fn fail(self, error: ErrorObject, now: impl Into<String>) -> Self {
        let message = error.message.clone();
        let mut task = self.turn(TaskStatus::Failed, now).message(message);
        task.error = Some(error);
        task
    }

    /// It was cancelled.
    #[must_use]
    #[inline]
    pub fn cancel(self, now: impl Into<String>) -> Self {
        self.turn(TaskStatus::Cancelled, now)
    }

    /// The text of its result, when it is completed.
    #[inline]
    pub fn raw_result(&self) -> Option<RawJson<'_>> {
        self.result.as_ref().map(RawObject::as_raw)
    }
}

/// Parameters of `tasks/update`.
// spec: TASK-13
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct UpdateTaskParams {
    /// Which task.
    pub task_id: String,
    /// Answers to what it waits for, all or some.
    pub input_responses: InputResponses,
}

members!(UpdateTaskParams as "answers for a task" {
    "taskId" => task_id,
    "inputResponses" => input_responses,
});

impl UpdateTaskParams {
    /// Answers what a task waits for.
    #[inline]
    pub fn new(task_id: impl Into<String>, responses: InputResponses) -> Self {
        Self {
            task_id: task_id.into(),
            input_responses: responses,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Task, TaskStatus, UpdateTaskParams};
    use crate::{CallToolResult, ElicitResult, ErrorObject, InputRequest, InputRequests, codes};
    use crate::{InputResponse, InputResponses};

    const NOW: &str = "2026-07-28T12:00:00Z";
    const LATER: &str = "2026-07-28T12:00:05Z";

    fn round_trip(task: &Task) {
        let text = serde_json::to_string(task).unwrap();
        assert_eq!(
            &serde_json::from_str::<Task>(&text).unwrap(),
            task,
            "{text}"
        );
        assert_eq!(
            task.last_updated_at,
            if task.status == TaskStatus::Working {
                NOW
            } else {
                LATER
            }
        );
    }

    #[test]
    fn tasks_carry_what_their_state_has() {
        let task = || Task::new("t", NOW).ttl_ms(60_000).poll_interval_ms(500);
        round_trip(&task().message("half"));
        let roots = InputRequests::from([("r".to_owned(), InputRequest::ListRoots)]);
        let asks = task().ask(roots, LATER);
        round_trip(&asks);
        let done = asks.complete(&CallToolResult::error("no"), LATER).unwrap();
        round_trip(&done);
        assert_eq!(done.input_requests, None);
        assert!(done.raw_result().unwrap().as_str().contains("isError"));
        let failed = task().fail(ErrorObject::new(codes::INTERNAL_ERROR, "broken"), LATER);
        round_trip(&failed);
        assert_eq!(failed.status_message.as_deref(), Some("broken"));
        round_trip(&task().cancel(LATER));
    }

    #[test]
    fn on_the_wire() {
        let value = serde_json::to_value(Task::new("t", NOW)).unwrap();
        let wanted = json!({
            "taskId": "t", "status": "working", "createdAt": NOW, "lastUpdatedAt": NOW, "ttlMs": null,
        });
        assert_eq!(value, wanted);
        let answer = InputResponse::from(ElicitResult::cancel())
            .to_raw()
            .unwrap();
        let update = UpdateTaskParams::new("t", InputResponses::from([("a".to_owned(), answer)]));
        let value = serde_json::to_value(&update).unwrap();
        assert_eq!(
            value,
            json!({"taskId": "t", "inputResponses": {"a": {"action": "cancel"}}})
        );
        assert_eq!(
            serde_json::from_value::<UpdateTaskParams>(value).unwrap(),
            update
        );
    }
}

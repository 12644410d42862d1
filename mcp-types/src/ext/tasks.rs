//! The tasks extension: a tool call returns a task, and the result is fetched later.
//!
//! Spec: <https://github.com/modelcontextprotocol/ext-tasks>

use serde::{Deserialize, Serialize};

pub use crate::task_status::{TaskParams, TaskStatus};
use crate::{
    CallToolResult, ErrorObject, InputRequests, InputResponses, Meta, Method, RawJson, RawObject,
    RawObjectError,
};

/// The `resultType` of a result that is a task.
// spec: TASK-06
pub const RESULT_TYPE: &str = "task";

/// The method that returns a task.
pub const GET: &str = Method::GetTask.as_str();
/// The method that answers the questions of a task.
pub const UPDATE: &str = Method::UpdateTask.as_str();
/// The method that cancels a task.
pub const CANCEL: &str = Method::CancelTask.as_str();
/// The notification of a changed task, on subscriptions.
pub const CHANGED: &str = Method::TaskChanged.as_str();

/// Settings of the extension, for clients and servers.
// spec: TASK-01
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TasksSettings {}

/// A task: a tool call whose result is fetched later.
///
/// Such a `tools/call` and `tasks/get` return this type, and `notifications/tasks` has it as parameters. The results of `tasks/cancel` and `tasks/update` are empty.
///
/// # Examples
///
/// ```
/// use mcp::CallToolResult;
/// use mcp::types::ext::tasks::{Task, TaskStatus};
///
/// let task = Task::new("t-1", "2026-07-28T12:00:00Z").poll_interval_ms(500);
/// let done = task.complete(&CallToolResult::from_text("done"), "2026-07-28T12:01:00Z")?;
/// assert_eq!(done.status, TaskStatus::Completed);
/// # Ok::<(), mcp::types::RawObjectError>(())
/// ```
// spec: TASK-06, TASK-11, TASK-19
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Task {
    /// Id of the task. It must not be guessable.
    // spec: TASK-22
    pub task_id: String,
    /// Status of the task.
    pub status: TaskStatus,
    /// Description of the status, for users.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_message: Option<String>,
    /// Time of creation, in ISO 8601.
    pub created_at: String,
    /// Time of the last change, in ISO 8601.
    pub last_updated_at: String,
    /// Retention after creation in milliseconds. `None` means unlimited.
    pub ttl_ms: Option<u64>,
    /// Suggested polling interval in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poll_interval_ms: Option<u64>,
    /// Input that the task waits for, if the status is [`TaskStatus::InputRequired`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_requests: Option<InputRequests>,
    /// Result of the call, if the status is [`TaskStatus::Completed`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<RawObject>,
    /// Error of the call, if the status is [`TaskStatus::Failed`].
    // spec: TASK-08
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorObject>,
    /// Protocol-level metadata (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl Task {
    /// Creates a working task with unlimited retention. `now` becomes both of its
    /// times.
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

    /// Sets the retention after creation.
    #[must_use]
    pub fn ttl_ms(mut self, milliseconds: u64) -> Self {
        self.ttl_ms = Some(milliseconds);
        self
    }

    /// Sets the suggested polling interval.
    #[must_use]
    pub fn poll_interval_ms(mut self, milliseconds: u64) -> Self {
        self.poll_interval_ms = Some(milliseconds);
        self
    }

    /// Sets the description of the status.
    #[must_use]
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.status_message = Some(message.into());
        self
    }

    fn with_status(mut self, status: TaskStatus, now: impl Into<String>) -> Self {
        self.status = status;
        self.last_updated_at = now.into();
        self.input_requests = None;
        self.result = None;
        self.error = None;
        self
    }

    /// Changes the status to [`TaskStatus::Working`].
    #[must_use]
    pub fn work(self, now: impl Into<String>) -> Self {
        self.with_status(TaskStatus::Working, now)
    }

    /// Changes the status to [`TaskStatus::InputRequired`] with the requested input.
    // spec: TASK-11, TASK-14
    #[must_use]
    pub fn ask(self, requests: InputRequests, now: impl Into<String>) -> Self {
        let mut task = self.with_status(TaskStatus::InputRequired, now);
        task.input_requests = Some(requests);
        task
    }

    /// Changes the status to [`TaskStatus::Completed`] with the result. A result that reports a failure
    /// of the tool completes the task as well.
    ///
    /// # Errors
    ///
    /// Returns [`RawObjectError`] if the result cannot be serialized.
    // spec: TASK-08
    pub fn complete(
        self,
        result: &CallToolResult,
        now: impl Into<String>,
    ) -> Result<Self, RawObjectError> {
        Ok(self.complete_raw(RawObject::from_value(result)?, now))
    }

    /// Changes the status to [`TaskStatus::Completed`] with a result that is JSON already.
    #[must_use]
    pub fn complete_raw(self, result: RawObject, now: impl Into<String>) -> Self {
        let mut task = self.with_status(TaskStatus::Completed, now);
        task.result = Some(result);
        task
    }

    /// Changes the status to [`TaskStatus::Failed`] with a protocol error.
    // spec: TASK-08
    #[must_use]
    pub fn fail(self, error: ErrorObject, now: impl Into<String>) -> Self {
        let message = error.message.clone();
        let mut task = self.with_status(TaskStatus::Failed, now).message(message);
        task.error = Some(error);
        task
    }

    /// Changes the status to [`TaskStatus::Cancelled`].
    #[must_use]
    pub fn cancel(self, now: impl Into<String>) -> Self {
        self.with_status(TaskStatus::Cancelled, now)
    }

    /// Returns the result of a completed task as raw JSON.
    pub fn raw_result(&self) -> Option<RawJson<'_>> {
        self.result.as_ref().map(RawObject::as_raw)
    }
}

/// Parameters of `tasks/update`.
// spec: TASK-13
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UpdateTaskParams {
    /// Id of the task.
    pub task_id: String,
    /// Responses to all or some of the requested inputs.
    pub input_responses: InputResponses,
}

impl UpdateTaskParams {
    /// Creates the parameters from the id of a task and the responses.
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
    fn task_round_trips_in_every_status() {
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
    fn task_and_update_are_written_as_specified() {
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

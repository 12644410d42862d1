//! The tasks extension: a tool call returns a task, and the result is fetched later.
//!
//! Spec: <https://github.com/modelcontextprotocol/ext-tasks>

use serde::{Deserialize, Serialize};

use crate::input::{InputRequests, InputResponses};
pub use crate::task_status::{TaskParams, TaskStatus};
use crate::{jsonrpc::ErrorObject, meta::Meta, method::Method, raw::RawObject};

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

/// The extension's settings, for clients and servers.
// spec: TASK-01
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TasksSettings {}

/// A task: a tool call whose result is fetched later.
///
/// Such a `tools/call` and `tasks/get` return this type, and `notifications/tasks` has it as parameters. The results of `tasks/cancel` and `tasks/update` are empty.
///
/// # Examples
///
/// ```
/// use mcp::types::ext::tasks::{Task, TaskStatus};
///
/// let mut task = Task::new("t-1", "2026-07-28T12:00:00Z");
/// task.poll_interval_ms = Some(500);
/// assert_eq!(task.status, TaskStatus::Working);
/// ```
// spec: TASK-06, TASK-19
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Task {
    /// The task's id. It must not be guessable.
    pub task_id: String,
    /// The task's status.
    pub status: TaskStatus,
    /// The status's description, for users.
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
    /// The call's result, if the status is [`TaskStatus::Completed`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<RawObject>,
    /// The call's error, if the status is [`TaskStatus::Failed`].
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
}

/// Parameters of `tasks/update`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UpdateTaskParams {
    /// The task's id.
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
    use crate::input::{InputRequest, InputRequests, InputResponse, InputResponses};
    use crate::{
        codes, elicitation::ElicitResult, jsonrpc::ErrorObject, raw::RawObject,
        tools::CallToolResult,
    };

    const NOW: &str = "2026-07-28T12:00:00Z";

    fn round_trip(task: &Task) {
        let text = serde_json::to_string(task).unwrap();
        assert_eq!(
            &serde_json::from_str::<Task>(&text).unwrap(),
            task,
            "{text}"
        );
    }

    #[test]
    fn task_round_trips_in_every_status() {
        let task = Task {
            status_message: Some("half".to_owned()),
            ttl_ms: Some(60_000),
            poll_interval_ms: Some(500),
            ..Task::new("t", NOW)
        };
        round_trip(&task);
        let roots = InputRequests::from([("r".to_owned(), InputRequest::ListRoots)]);
        round_trip(&Task {
            status: TaskStatus::InputRequired,
            input_requests: Some(roots),
            ..task.clone()
        });
        round_trip(&Task {
            status: TaskStatus::Completed,
            result: RawObject::from_value(&CallToolResult::error("no")).ok(),
            ..task.clone()
        });
        round_trip(&Task {
            status: TaskStatus::Failed,
            error: Some(ErrorObject::new(codes::INTERNAL_ERROR, "broken")),
            ..task.clone()
        });
        round_trip(&Task {
            status: TaskStatus::Cancelled,
            ..task
        });
    }

    // spec: TASK-06
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

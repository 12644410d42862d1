//! Experimental tasks of 2025-11-25. Later revisions have the tasks extension instead:
//! [`ext::tasks`](crate::ext::tasks).
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks>

use serde::{Deserialize, Serialize};

pub use crate::task_status::{TaskParams, TaskStatus};
use crate::{extra::ExtraFields, meta::Meta, page::Cursor, text_enum::text_enum};

text_enum! {
    /// Support of a tool for calls as tasks.
    pub enum TaskSupport {
        /// Calls as tasks are not allowed.
        Forbidden = "forbidden",
        /// Calls may run as tasks.
        Optional = "optional",
        /// Calls have to run as tasks.
        Required = "required",
    }
}

/// A task: a request whose result is fetched later.
///
/// The type is also the result of `tasks/get` and `tasks/cancel`, and the parameters of
/// `notifications/tasks/status`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LegacyTask {
    /// The task's id.
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
    pub ttl: Option<u64>,
    /// Suggested polling interval in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poll_interval: Option<u64>,
    /// Protocol-level metadata (`_meta`) of a result or a notification.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// The `task` member of request parameters, which requests to run the request as a task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TaskMetadata {
    /// Requested retention after creation in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl: Option<u64>,
}

/// Value of the `_meta` key [`RELATED_TASK`](crate::meta::keys::RELATED_TASK), which associates a
/// message with a task.
// spec: META-15
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RelatedTask {
    /// The task's id.
    pub task_id: String,
}

/// Result of a request that runs as a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CreateTaskResult {
    /// The task.
    pub task: LegacyTask,
    /// Protocol-level metadata (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// Result of `tasks/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListTasksResult {
    /// This page's tasks.
    pub tasks: Vec<LegacyTask>,
    /// Cursor of the next page. Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<Cursor>,
    /// Protocol-level metadata (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// The `tasks` capability of clients and servers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TasksCapability {
    /// Support for `tasks/list`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list: Option<ExtraFields>,
    /// Support for `tasks/cancel`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancel: Option<ExtraFields>,
    /// Requests that can run as tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<TaskRequests>,
    /// Members that this crate does not define.
    #[serde(flatten)]
    pub extra: ExtraFields,
}

/// Requests that can run as tasks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TaskRequests {
    /// Requests of tools (servers).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<ToolTasks>,
    /// Requests of sampling (clients).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampling: Option<SamplingTasks>,
    /// Requests of elicitation (clients).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elicitation: Option<ElicitationTasks>,
    /// Members that this crate does not define.
    #[serde(flatten)]
    pub extra: ExtraFields,
}

/// Requests of tools that can run as tasks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ToolTasks {
    /// Support for `tools/call` as a task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<ExtraFields>,
    /// Members that this crate does not define.
    #[serde(flatten)]
    pub extra: ExtraFields,
}

/// Requests of sampling that can run as tasks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SamplingTasks {
    /// Support for `sampling/createMessage` as a task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub create_message: Option<ExtraFields>,
    /// Members that this crate does not define.
    #[serde(flatten)]
    pub extra: ExtraFields,
}

/// Requests of elicitation that can run as tasks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ElicitationTasks {
    /// Support for `elicitation/create` as a task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub create: Option<ExtraFields>,
    /// Members that this crate does not define.
    #[serde(flatten)]
    pub extra: ExtraFields,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{LegacyTask, TaskStatus};

    #[test]
    fn task_without_ttl_is_written_with_null() {
        let task = LegacyTask {
            task_id: "t".to_owned(),
            status: TaskStatus::Completed,
            status_message: None,
            created_at: "2025-11-25T10:00:00Z".to_owned(),
            last_updated_at: "2025-11-25T10:00:00Z".to_owned(),
            ttl: None,
            poll_interval: None,
            meta: None,
        };
        let value = serde_json::to_value(&task).unwrap();
        assert_eq!(value["ttl"], json!(null));
        assert_eq!(serde_json::from_value::<LegacyTask>(value).unwrap(), task);
        for (status, is_terminal) in [
            (TaskStatus::Working, false),
            (TaskStatus::InputRequired, false),
            (TaskStatus::Completed, true),
            (TaskStatus::Failed, true),
            (TaskStatus::Cancelled, true),
        ] {
            assert_eq!(status.is_terminal(), is_terminal, "{status:?}");
        }
    }

    #[test]
    fn unknown_status_is_kept() {
        let status: TaskStatus = serde_json::from_str(r#""paused""#).unwrap();
        assert_eq!(serde_json::to_string(&status).unwrap(), r#""paused""#);
        assert!(!status.is_terminal());
    }
}

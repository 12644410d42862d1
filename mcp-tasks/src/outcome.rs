//! The result or the error of a finished call.

use std::sync::Arc;

use mcp_core::{Reply, ReplyTarget, ServerProfile};
use mcp_types::ext::tasks::{Task, TaskStatus};
use mcp_types::{ErrorObject, InputRequests, ProtocolVersion, RawObject, RequestId, codes};
use serde::Deserialize;

use crate::clock;

/// The end of a call.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The result, exactly as the call would have returned it.
    Completed(RawObject),
    /// A protocol error.
    Failed(ErrorObject),
}

impl Outcome {
    /// Converts a reply into an outcome. The wire encodes it, so that a task has the same result as a direct
    /// reply.
    // spec: TASK-08, TASK-11
    pub(crate) fn from_reply(reply: Reply, profile: Arc<ServerProfile>) -> Self {
        #[derive(Deserialize)]
        struct Response {
            result: Option<RawObject>,
            error: Option<ErrorObject>,
        }

        if !matches!(reply, Reply::Complete { .. } | Reply::Fault(_)) {
            return Self::internal("the tool asked outside of its task");
        }
        let target = ReplyTarget {
            id: RequestId::from(0),
            profile,
            version: ProtocolVersion::LATEST,
        };
        let encoded = target.encode(reply, Vec::new()).into_bytes();
        match serde_json::from_slice(&encoded) {
            Ok(Response {
                error: Some(error), ..
            }) => Self::Failed(error),
            Ok(Response {
                result: Some(result),
                ..
            }) => Self::Completed(result),
            _ => Self::internal("the result of the task cannot be encoded"),
        }
    }

    pub(crate) fn internal(message: &str) -> Self {
        Self::Failed(ErrorObject::new(codes::INTERNAL_ERROR, message))
    }

    /// Returns the finished task.
    pub(crate) fn apply(&self, task: Task) -> Task {
        match self {
            Self::Completed(result) => {
                let mut task = with_status(task, TaskStatus::Completed);
                task.result = Some(result.clone());
                task
            }
            Self::Failed(error) => {
                let mut task = with_status(task, TaskStatus::Failed);
                task.status_message = Some(error.message.clone());
                task.error = Some(error.clone());
                task
            }
        }
    }
}

/// Changes the status and the time. The values of the previous status are removed.
pub(crate) fn with_status(mut task: Task, status: TaskStatus) -> Task {
    task.status = status;
    task.last_updated_at = clock::now();
    task.input_requests = None;
    task.result = None;
    task.error = None;
    task
}

/// Changes the status of a running task, which waits for its open questions.
// spec: TASK-11
pub(crate) fn with_open_questions(task: Task, open: InputRequests) -> Task {
    if open.is_empty() {
        return with_status(task, TaskStatus::Working);
    }
    let mut task = with_status(task, TaskStatus::InputRequired);
    task.input_requests = Some(open);
    task
}

#[cfg(test)]
mod tests {
    use mcp_types::ext::tasks::{Task, TaskStatus};
    use mcp_types::{InputRequest, InputRequests, RawObject};

    use super::{Outcome, with_open_questions};

    // spec: TASK-11
    #[test]
    fn task_keeps_only_the_values_for_its_status() {
        let questions = InputRequests::from([("r".to_owned(), InputRequest::ListRoots)]);
        let asks = with_open_questions(Task::new("t", "2026-07-28T12:00:00Z"), questions);
        assert_eq!(asks.status, TaskStatus::InputRequired);
        assert_eq!(asks.created_at, "2026-07-28T12:00:00Z");
        assert_ne!(asks.last_updated_at, asks.created_at);
        assert_eq!(asks.input_requests.as_ref().map(|open| open.len()), Some(1));

        let works = with_open_questions(asks.clone(), InputRequests::new());
        assert_eq!(works.status, TaskStatus::Working);
        assert_eq!(works.input_requests, None);

        let completed = Outcome::Completed(RawObject::default()).apply(asks.clone());
        assert_eq!(completed.status, TaskStatus::Completed);
        assert_eq!(completed.result, Some(RawObject::default()));
        assert_eq!(completed.input_requests, None);

        let failed = Outcome::internal("broken").apply(asks);
        assert_eq!(failed.status, TaskStatus::Failed);
        assert_eq!(failed.status_message.as_deref(), Some("broken"));
        assert_eq!(failed.error.unwrap().message, "broken");
        assert_eq!(failed.input_requests, None);
    }
}

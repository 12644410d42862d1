//! The result or the error of a finished call.

use std::sync::Arc;

use mcp_core::wire::MODERN;
use mcp_core::{Reply, ReplyTarget, ServerProfile};
use mcp_types::ext::tasks::Task;
use mcp_types::{ErrorObject, RawObject, RequestId, codes};
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
    /// The outcome of a reply. The wire encodes it, so that a task has the same result as a direct
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
            wire: MODERN,
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
        let now = clock::now();
        match self {
            Self::Completed(result) => task.complete_raw(result.clone(), now),
            Self::Failed(error) => task.fail(error.clone(), now),
        }
    }
}

//! A task of a server that the gateway follows to its end, for a client without tasks.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use mcp_core::{Call, Fault, Reply, ResultBody};
use mcp_types::ext::tasks::{CANCEL, GET, Task, TaskParams, TaskStatus, UPDATE, UpdateTaskParams};
use mcp_types::{CallToolParams, ErrorObject, ProtocolVersion, RawObject, Response, codes};
use serde::Serialize;
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use super::body::check_question;
use super::client::TaskClient;
use crate::calls::failure::CallFailure;
use crate::calls::request::Request;
use crate::calls::state::{FollowedTask, RequestState, to_fault};
use crate::calls::upstream::Upstream;

/// The pause between two polls when the server suggests none.
const DEFAULT_INTERVAL: Duration = Duration::from_secs(1);

/// Input requests of one task that are passed on.
const MAX_ANSWERS: usize = 1024;

/// The cancellation's time limit after a call was dropped.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(5);

/// Follows a task that a server has created.
pub(crate) async fn follow(
    upstream: &Arc<Upstream>,
    request: &Request,
    created: &RawObject,
) -> Result<ResultBody, CallFailure> {
    let task: Task = read(created)?;
    let task = FollowedTask {
        id: task.task_id,
        poll_interval_ms: task.poll_interval_ms,
        ..FollowedTask::default()
    };
    resume(upstream, request, task).await
}

/// Continues to follow a task, with the client's answers.
pub(crate) async fn resume(
    upstream: &Arc<Upstream>,
    request: &Request,
    task: FollowedTask,
) -> Result<ResultBody, CallFailure> {
    let caller = &request.caller;
    let mut following = Following {
        guard: CancelGuard {
            id: task.id.clone(),
            client: TaskClient::new(
                upstream,
                &caller.facts,
                request.ask.is_some(),
                &caller.key,
                caller.token.as_ref(),
                request.meta.as_ref(),
            ),
            is_armed: true,
        },
        request,
        task,
    };
    let _in_use = upstream.usage.begin();
    let ended = following.run().await?;
    following.guard.is_armed = false;
    result(ended).map_err(CallFailure::of_server)
}

struct Following<'a> {
    guard: CancelGuard,
    request: &'a Request,
    task: FollowedTask,
}

impl Following<'_> {
    /// Polls the task until it has ended.
    // spec: TASK-12
    async fn run(&mut self) -> Result<Task, CallFailure> {
        loop {
            if !self.task.open.is_empty() {
                self.answer().await?;
            }
            let interval = self.task.poll_interval_ms.map(Duration::from_millis);
            sleep(interval.unwrap_or(DEFAULT_INTERVAL)).await;
            let task: Task = read(&self.send(GET, &TaskParams::from(&*self.task.id)).await?)?;
            if task.status.is_terminal() {
                return Ok(task);
            }
            self.task.poll_interval_ms = task.poll_interval_ms;
            let mut open = task.input_requests.unwrap_or_default();
            open.retain(|key, _| !self.task.answered.contains(key));
            if open.len() + self.task.answered.len() > MAX_ANSWERS {
                return Err(CallFailure::of_server(Fault::internal(
                    "the task of the server requires too much input",
                )));
            }
            open.values().try_for_each(check_question)?;
            self.task.open = open;
        }
    }

    /// Asks the client for the input that the task requires, each key once.
    // spec: TASK-15
    async fn answer(&mut self) -> Result<(), CallFailure> {
        let (id, task) = (Uuid::new_v4(), self.task.clone());
        let ask = self.request.keep(&RequestState::Task { id, task })?;
        let questions = self.task.open.iter();
        let questions =
            questions.map(|(key, request)| ask.forward(format!("task/{key}"), request.clone()));
        let questions: Vec<_> = questions.collect();
        // If the reply contains the questions, this future is dropped, and the task goes on.
        self.guard.is_armed = !self.request.runs_again();
        let answers = ask.all(questions).await;
        self.guard.is_armed = true;
        let open = std::mem::take(&mut self.task.open);
        let mut responses = BTreeMap::new();
        for (key, answer) in open.into_keys().zip(answers.map_err(to_fault)?) {
            let raw = answer.to_raw();
            let raw = raw.map_err(|error| Fault::internal(error.to_string()))?;
            self.task.answered.insert(key.clone());
            responses.insert(key, raw);
        }
        let params = UpdateTaskParams::new(&*self.task.id, responses);
        self.send(UPDATE, &params).await.map(drop)
    }

    async fn send(&self, method: &str, params: &impl Serialize) -> Result<RawObject, CallFailure> {
        let params = RawObject::from_value(params);
        let params = params.map_err(|error| Fault::internal(error.to_string()))?;
        self.guard.client.request(method, params).await
    }
}

fn read(task: &RawObject) -> Result<Task, CallFailure> {
    task.parse().map_err(|error| {
        let text = format!("the task of the server is malformed: {error}");
        CallFailure::of_server(Fault::internal(text))
    })
}

/// Converts the end of a task into the result that the call would have had.
fn result(task: Task) -> Result<ResultBody, Fault> {
    match (&task.status, task.result, task.error) {
        (TaskStatus::Completed, Some(result), _) => {
            let request = Call::CallTool(CallToolParams::new("", None)).into();
            let response = Response::new(None, Ok(result.as_raw()));
            match Reply::decode_raw(&request, &response, ProtocolVersion::LATEST) {
                Ok(Reply::Complete { body, .. }) => Ok(body),
                Ok(Reply::Fault(fault)) => Err(fault),
                Ok(_) => Err(Fault::internal("the task has ended with a question")),
                Err(error) => Err(Fault::internal(error.to_string())),
            }
        }
        (TaskStatus::Failed, _, error) => {
            let error = error.unwrap_or_else(|| {
                let message = task.status_message.as_deref().unwrap_or("the task failed");
                ErrorObject::new(codes::INTERNAL_ERROR, message)
            });
            Err(Fault::Protocol(error))
        }
        (TaskStatus::Cancelled, ..) => Err(Fault::Refused("the task was cancelled".into())),
        _ => Err(Fault::internal("the task has ended without a result")),
    }
}

/// Cancels the task when the call is dropped.
struct CancelGuard {
    id: String,
    client: TaskClient,
    is_armed: bool,
}

impl Drop for CancelGuard {
    fn drop(&mut self) {
        // Without a runtime nothing can be sent. The task then ends by itself.
        let (true, Ok(runtime)) = (self.is_armed, tokio::runtime::Handle::try_current()) else {
            return;
        };
        let Ok(params) = RawObject::from_value(&TaskParams::from(&*self.id)) else {
            return;
        };
        let client = self.client.clone();
        runtime.spawn(async move {
            let cancelling = client.request(CANCEL, params);
            if let Ok(Err(error)) = timeout(CANCEL_TIMEOUT, cancelling).await {
                tracing::debug!(error = %mcp_types::escaped(&error), "the task of a dropped call was not cancelled");
            }
        });
    }
}

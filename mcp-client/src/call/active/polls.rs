//! Following a task: polls, input requests, the result.
//!
//! Spec: <https://github.com/modelcontextprotocol/ext-tasks>

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::time::Duration;

use http::HeaderMap;
use mcp_core::{BoxFuture, Call, ClientRequest, Fault, Frame, Reply, ResultBody};
use mcp_types::ext::tasks::{CANCEL, GET, Task, TaskParams, TaskStatus, UPDATE, UpdateTaskParams};
use mcp_types::{CallToolParams, ErrorObject, InputRequests, RawObject, Response, codes};
use serde::Serialize;
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep_until, timeout};

use super::{ActiveCall, run, unless_cancelled};
use crate::client::Client;
use crate::error::{Error, ErrorKind};
use crate::inputs::{Mrtr, check_urls};
use crate::options::{CallOptions, deadline_after};

/// The interval between two polls when the server suggests none.
const DEFAULT_INTERVAL: Duration = Duration::from_secs(1);
/// The number of input requests that are answered for one task.
const MAX_ANSWERS: usize = 1024;
/// Time limit of the cancellation after a call was dropped.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(5);

/// The polls of one task.
pub(crate) struct TaskPolls {
    client: Client,
    id: String,
    headers: HeaderMap,
    /// The earliest time of the next poll.
    next: Instant,
    /// Keys of answered input requests. A server may list them once more.
    // spec: TASK-15
    answered: BTreeSet<String>,
}

impl TaskPolls {
    pub(crate) fn new(client: &Client, task: &Task, headers: HeaderMap) -> Self {
        Self {
            client: client.clone(),
            id: task.task_id.clone(),
            headers,
            next: next_poll(task),
            answered: BTreeSet::new(),
        }
    }

    /// Waits until the next poll is allowed, then requests the task.
    // spec: TASK-12
    async fn poll(&mut self, end: Instant) -> Result<Task, Error> {
        sleep_until(self.next).await;
        let task = get(&self.client, &self.id, self.options(end)).await?;
        self.next = next_poll(&task);
        Ok(task)
    }

    fn options(&self, end: Instant) -> CallOptions<'static> {
        CallOptions {
            total_timeout: Some(end.saturating_duration_since(Instant::now())),
            headers: self.headers.clone(),
            // The task methods may be repeated.
            idempotent: Some(true),
            ..CallOptions::default()
        }
    }

    /// Returns the requests that were not answered before.
    fn unanswered(&self, task: Task) -> InputRequests {
        let mut requests = task.input_requests.unwrap_or_default();
        requests.retain(|key, _| !self.answered.contains(key));
        requests
    }
}

/// Returns the earliest time of the next poll.
fn next_poll(task: &Task) -> Instant {
    let interval = task.poll_interval_ms.map(Duration::from_millis);
    deadline_after(interval.unwrap_or(DEFAULT_INTERVAL))
}

/// Requests a task.
pub(crate) async fn get(
    client: &Client,
    id: &str,
    options: CallOptions<'static>,
) -> Result<Task, Error> {
    let request = task_request(GET, &TaskParams::from(id))?;
    let result = call(client, request, options).await?;
    let task = result.parse();
    task.map_err(|error| ErrorKind::MalformedTask(error.to_string()).into())
}

/// Cancels a task.
// spec: TASK-17
pub(crate) async fn cancel(
    client: &Client,
    id: &str,
    options: CallOptions<'static>,
) -> Result<(), Error> {
    let request = task_request(CANCEL, &TaskParams::from(id))?;
    call(client, request, options).await.map(drop)
}

pub(crate) fn task_request(method: &str, params: &impl Serialize) -> Result<ClientRequest, Error> {
    let params = RawObject::from_value(params).map_err(ErrorKind::Arguments)?;
    Ok(ClientRequest::Call(Call::Other {
        method: method.into(),
        params: Some(params),
    }))
}

/// Sends an extension request. Boxed, because a call's future cannot contain a call.
fn call(
    client: &Client,
    request: ClientRequest,
    options: CallOptions<'static>,
) -> BoxFuture<'static, Result<RawObject, Error>> {
    let client = client.clone();
    Box::pin(async move {
        match run(&client, request, options).await? {
            ResultBody::Other(result) => Ok(result),
            _ => Err(ErrorKind::WrongResult.into()),
        }
    })
}

impl ActiveCall<'_> {
    /// Follows a task to its end. When the future is dropped or fails before, the task is cancelled.
    pub(crate) async fn follow_or_cancel(&mut self, task: &Task) -> Result<ResultBody, Error> {
        let mut guard = CancelGuard {
            call: Some((self.client.clone(), task.task_id.clone())),
            headers: self.options.headers.clone(),
        };
        let mut polls = TaskPolls::new(&self.client, task, self.options.headers.clone());
        let mut cancel = self.options.cancel.take();
        let ended = unless_cancelled(&mut cancel, pin!(self.poll_to_end(&mut polls))).await;
        let ended = ended.unwrap_or_else(|| Err(self.error(ErrorKind::Cancelled)));
        // A refused request for the task says nothing about the call.
        let ended = ended.map_err(Error::mark_may_have_run)?;
        guard.call = None;
        self.end_of_task(ended)
    }

    /// Follows a task to its end.
    pub(crate) async fn follow(&mut self, polls: &mut TaskPolls) -> Result<ResultBody, Error> {
        let ended = self.poll_to_end(polls).await?;
        self.end_of_task(ended)
    }

    async fn poll_to_end(&mut self, polls: &mut TaskPolls) -> Result<Task, Error> {
        loop {
            let task = self.next_state(polls).await?;
            if task.status.is_terminal() {
                return Ok(task);
            }
        }
    }

    /// Polls once, and answers new input requests by the client's handlers.
    pub(crate) async fn next_state(&mut self, polls: &mut TaskPolls) -> Result<Task, Error> {
        self.timer.resume();
        let end = self.timer.end();
        if polls.next > end {
            sleep_until(end).await;
            return Err(self.error(self.timer.timed_out(end)));
        }
        let task = polls.poll(end).await?;
        let requests = polls.unanswered(task.clone());
        if !task.status.is_terminal() && !requests.is_empty() {
            self.answer(polls, requests).await?;
        }
        Ok(task)
    }

    /// Answers input requests of a task, each key once.
    // spec: TASK-15
    async fn answer(
        &mut self,
        polls: &mut TaskPolls,
        requests: InputRequests,
    ) -> Result<(), Error> {
        let count = requests.len();
        if count > Mrtr::MAX_REQUESTS || polls.answered.len() + count > MAX_ANSWERS {
            return Err(self.error(ErrorKind::TooManyTaskInputs(MAX_ANSWERS)));
        }
        check_urls(&requests).map_err(|error| self.error(error))?;
        // The time of the user does not count as the server's time.
        self.timer.pause();
        let (asker, inner) = (self.asker(), self.client.inner.clone());
        let (declared, version) = (&inner.profile.capabilities, self.version);
        let answers = inner
            .inputs
            .answer_all(&requests, &asker, declared, version, |_| None);
        let answers = answers.await;
        self.timer.resume();
        let mut responses = BTreeMap::new();
        for (key, answer) in answers.map_err(|error| self.error(error))? {
            let raw = answer.to_raw();
            let raw = raw.map_err(|error| self.error(ErrorKind::Arguments(error)))?;
            responses.insert(key, raw);
        }
        polls.answered.extend(responses.keys().cloned());
        let request = task_request(UPDATE, &UpdateTaskParams::new(&*polls.id, responses))?;
        let options = polls.options(self.timer.end());
        call(&polls.client, request, options).await.map(drop)
    }

    /// Converts the end of a task into the result that the call would have returned.
    pub(crate) fn end_of_task(&self, task: Task) -> Result<ResultBody, Error> {
        let outcome = match (&task.status, &task.result, task.error.clone()) {
            (TaskStatus::Completed, Some(result), _) => Ok(result.as_raw()),
            (TaskStatus::Failed, _, error) => Err(error.unwrap_or_else(|| {
                let message = task.status_message.as_deref().unwrap_or("the task failed");
                ErrorObject::new(codes::INTERNAL_ERROR, message)
            })),
            (TaskStatus::Cancelled, ..) => return Err(self.error(ErrorKind::TaskCancelled)),
            _ => {
                let reason = "it is completed and has no result".to_owned();
                return Err(self.error(ErrorKind::MalformedTask(reason)));
            }
        };
        let response = Response::new(None, outcome);
        let request = ClientRequest::Call(match &self.request {
            ClientRequest::Call(Call::CallTool(params)) => Call::CallTool(params.clone()),
            // A task that another process has started.
            _ => Call::CallTool(CallToolParams::new("", None)),
        });
        let reply = Reply::decode(&request, &response, self.version);
        match reply.map_err(|error| self.error(ErrorKind::Decode(error)))? {
            Reply::Complete { body, .. } => self.done(body),
            Reply::Fault(fault) => Err(self.fault(fault)),
            _ => Err(self.error(ErrorKind::WrongResult)),
        }
    }

    fn fault(&self, fault: Fault) -> Error {
        let versions = &self.client.inner.versions;
        self.error(ErrorKind::from_fault(fault, Frame::default(), versions))
    }
}

/// Cancels a task when its call is dropped.
// spec: TASK-17
struct CancelGuard {
    call: Option<(Client, String)>,
    headers: HeaderMap,
}

impl Drop for CancelGuard {
    fn drop(&mut self) {
        let Some((client, id)) = self.call.take() else {
            return;
        };
        // Without a runtime nothing can be sent. The task then ends by itself.
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        let headers = std::mem::take(&mut self.headers);
        runtime.spawn(async move {
            let options = CallOptions {
                headers,
                ..CallOptions::default()
            };
            let cancelled = timeout(CANCEL_TIMEOUT, cancel(&client, &id, options)).await;
            if let Ok(Err(error)) = cancelled {
                tracing::debug!(error = %mcp_types::escaped(&error), "the task of a dropped call was not cancelled");
            }
        });
    }
}

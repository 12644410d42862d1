//! [`TaskHandle`]: a tool call that runs as a task on its server.
//!
//! Spec: <https://github.com/modelcontextprotocol/ext-tasks>

use std::fmt;
use std::time::Duration;

use futures_core::Stream;
use futures_util::future::Either;
use futures_util::stream;
use http::HeaderMap;
use mcp_core::ClientRequest;
use mcp_types::CallToolResult;
use mcp_types::ext::tasks::{GET, Task, TaskParams, TaskStatus};

use super::active::{ActiveCall, TaskPolls, cancel_task, get_task, result_of, task_request};
use super::prepared::PreparedCall;
use crate::client::Client;
use crate::error::Error;
use crate::options::CallOptions;

/// The time limit of [`TaskHandle::result`]: the server's limit of the task counts.
const NO_LIMIT: Duration = Duration::MAX;

/// A tool call that runs as a task on its server. Created by [`PreparedCall::start`] and by
/// [`Client::task`].
///
/// Dropping the handle does not cancel the task. Store its [id](Self::id) to take it up again, also in
/// another process.
///
/// # Examples
///
/// ```no_run
/// # async fn example(client: mcp::Client) -> Result<(), mcp::Error> {
/// let task = client.call("render", ()).start().await?;
/// if let Some(id) = task.id() {
///     println!("started {id}");
/// }
/// let picture = task.result().await?;
/// # Ok(())
/// # }
/// ```
pub struct TaskHandle {
    client: Client,
    /// The call, or `tasks/get` for a task of another process.
    request: ClientRequest,
    headers: HeaderMap,
    state: TaskState,
}

enum TaskState {
    /// The server answered the call directly.
    Done(Box<CallToolResult>),
    Running(Box<Task>),
}

impl PreparedCall<'_, CallToolResult> {
    /// Sends the call and returns as soon as the server has answered it or made it a task. Handlers of
    /// the client answer input requests before that. The timeouts of the call apply until then.
    ///
    /// # Errors
    ///
    /// Returns any error of a call.
    pub async fn start(self) -> Result<TaskHandle, Error> {
        let read = self.read;
        let mut call = self.activate()?;
        let state = match call.run_until_task().await? {
            Either::Left(body) => TaskState::Done(Box::new(call.read(body, read)?)),
            Either::Right(task) => TaskState::Running(Box::new(task)),
        };
        let (client, request, headers) = call.into_origin();
        Ok(TaskHandle {
            client,
            request,
            headers,
            state,
        })
    }
}

impl Client {
    /// Takes up a task that was started before, possibly by another process. The client must be the same
    /// principal. Needs [`ClientBuilder::tasks`](crate::ClientBuilder::tasks).
    ///
    /// # Errors
    ///
    /// Returns an error of the server when it does not know the task: the id is wrong, the task has
    /// expired, or it belongs to another principal.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: mcp::Client) -> Result<(), mcp::Error> {
    /// let task = client.task("786512e29e0d4c1a").await?;
    /// let picture = task.result().await?;
    /// # Ok(())
    /// # }
    /// ```
    // spec: TASK-12
    pub async fn task(&self, id: impl AsRef<str>) -> Result<TaskHandle, Error> {
        let id = id.as_ref();
        let task = get_task(self, id, CallOptions::default()).await?;
        let request = task_request(GET, &TaskParams::from(id))?;
        Ok(TaskHandle {
            client: self.clone(),
            request,
            headers: HeaderMap::new(),
            state: TaskState::Running(Box::new(task)),
        })
    }
}

impl TaskHandle {
    /// Returns the task's id. `None` if the server answered the call directly.
    pub fn id(&self) -> Option<&str> {
        self.task().map(|task| &*task.task_id)
    }

    /// Returns the task as the server described it when the handle was created. `None` if the server
    /// answered the call directly.
    pub fn task(&self) -> Option<&Task> {
        match &self.state {
            TaskState::Done(_) => None,
            TaskState::Running(task) => Some(task),
        }
    }

    /// Requests the status from the server.
    ///
    /// # Errors
    ///
    /// Returns any error of a call.
    pub async fn status(&self) -> Result<TaskStatus, Error> {
        match &self.state {
            TaskState::Done(_) => Ok(TaskStatus::Completed),
            TaskState::Running(task) => {
                let options = self.options();
                Ok(get_task(&self.client, &task.task_id, options).await?.status)
            }
        }
    }

    /// Returns the task's states as a stream, each time that it has changed. The stream polls at the
    /// server's interval, and answers input requests by the client's handlers. It ends after
    /// the final state or an error.
    pub fn updates(&self) -> impl Stream<Item = Result<Task, Error>> + Send + Unpin + use<> {
        let state = self.task().map(|task| {
            let polls = TaskPolls::new(&self.client, task, self.headers.clone());
            (self.call(), polls, None)
        });
        Box::pin(stream::try_unfold(state, |state| async move {
            let Some((mut call, mut polls, mut seen)) = state else {
                return Ok(None);
            };
            loop {
                let task = call.next_state(&mut polls).await?;
                if seen.as_ref() == Some(&task) {
                    continue;
                }
                seen = Some(task.clone());
                let is_over = task.status.is_terminal();
                return Ok(Some((task, (!is_over).then_some((call, polls, seen)))));
            }
        }))
    }

    /// Cancels the task. The server may end it in another state.
    ///
    /// # Errors
    ///
    /// Returns any error of a call.
    pub async fn cancel(&self) -> Result<(), Error> {
        match &self.state {
            TaskState::Done(_) => Ok(()),
            TaskState::Running(task) => {
                cancel_task(&self.client, &task.task_id, self.options()).await
            }
        }
    }

    /// Waits for the end of the task and returns the result that the call would have returned. Handlers
    /// of the client answer input requests. The only time limit is that of the task; dropping the
    /// future does not cancel the task.
    ///
    /// # Errors
    ///
    /// Returns the call's error if the task failed, an error if it was cancelled, and any error of a
    /// poll.
    pub async fn result(self) -> Result<CallToolResult, Error> {
        let mut call = self.call();
        match self.state {
            TaskState::Done(result) => Ok(*result),
            TaskState::Running(task) => {
                let mut polls = TaskPolls::new(&self.client, &task, self.headers);
                let body = if task.status.is_terminal() {
                    call.end_of_task(*task)?
                } else {
                    call.follow(&mut polls).await?
                };
                call.read(body, result_of!(CallTool))
            }
        }
    }

    fn options(&self) -> CallOptions<'static> {
        CallOptions {
            headers: self.headers.clone(),
            idempotent: Some(true),
            ..CallOptions::default()
        }
    }

    fn call(&self) -> ActiveCall<'static> {
        let options = CallOptions {
            total_timeout: Some(NO_LIMIT),
            ..self.options()
        };
        ActiveCall::start(&self.client, self.request.clone(), options)
    }
}

impl fmt::Debug for TaskHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskHandle")
            .field("id", &self.id())
            .finish_non_exhaustive()
    }
}

//! Calls that run as tasks: their states go to the history.

use futures_util::StreamExt as _;
use mcp::TaskHandle;
use mcp::client::Error;
use mcp::types::CallToolResult;
use mcp::types::ext::tasks::Task;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::history::History;
use super::tap;

/// A state of a task.
#[derive(Serialize)]
struct TaskState<'a> {
    tool: Option<&'a str>,
    task: &'a Task,
    /// The page's request that follows the task.
    call: Option<&'a str>,
}

/// Waits for a call's result. Follows the call if it became a task. When the page cancels the request, cancels the task.
pub(super) async fn finish(
    task: TaskHandle,
    tool: Option<&str>,
    cancelled: &CancellationToken,
    history: &History,
) -> Result<CallToolResult, Error> {
    let Some(mut last) = task.task().cloned() else {
        return task.result().await;
    };
    let call = tap::page_request();
    let call = call.as_deref();
    let show = |task: &Task| history.add("task", TaskState { tool, task, call });
    // The next state may come only after the user has answered a question.
    show(&last);
    let mut updates = task.updates();
    let mut is_cancelled = false;
    loop {
        tokio::select! {
            update = updates.next() => match update {
                Some(update) => {
                    let update = update?;
                    if update != last {
                        show(&update);
                        last = update;
                    }
                }
                None => break,
            },
            () = cancelled.cancelled(), if !is_cancelled => {
                is_cancelled = true;
                task.cancel().await?;
            }
        }
    }
    drop(updates);
    task.result().await
}

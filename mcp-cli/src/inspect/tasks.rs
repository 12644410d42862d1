//! Calls that run as tasks: their states go to the history.

use futures_util::StreamExt as _;
use mcp::TaskHandle;
use mcp::client::Error;
use mcp::types::CallToolResult;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::history::History;

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
    // The next state may come only after the user has answered a question.
    history.add("task", json!({"tool": tool, "task": last}));
    let mut updates = task.updates();
    let mut is_cancelled = false;
    loop {
        tokio::select! {
            update = updates.next() => match update {
                Some(update) => {
                    let update = update?;
                    if update != last {
                        history.add("task", json!({"tool": tool, "task": update}));
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

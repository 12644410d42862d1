//! `mcp tasks`: calls that run as tasks on their server.

use futures_util::StreamExt as _;
use mcp::TaskHandle;
use mcp::types::escape_line;
use mcp::types::ext::tasks::{Task, TaskStatus};

use super::support::to_json;
use super::{interrupt, results};
use crate::cli::{ContentArgs, TasksCommand};
use crate::failure::{Failure, FailureKind};
use crate::output::Output;
use crate::target;

pub(super) async fn run(command: &TasksCommand, output: &Output) -> Result<(), Failure> {
    let args = match command {
        TasksCommand::Get(args) | TasksCommand::Cancel(args) => args,
        TasksCommand::Watch(args) => &args.target,
    };
    target::with_client(args, output, async |client, words| {
        let [id] = words else {
            let cure = "pass the id of one task; `mcp call --task` prints it";
            return Err(Failure::usage(cure));
        };
        let task = client.task(id.as_str()).await?;
        let task = match command {
            TasksCommand::Get(_) => task,
            TasksCommand::Cancel(_) => {
                task.cancel().await?;
                // The server may end the task in another state.
                client.task(id.as_str()).await?
            }
            TasksCommand::Watch(args) => return watch(task, args, output).await,
        };
        task.task().map_or(Ok(()), |task| print(task, output))
    })
    .await
}

async fn watch(task: TaskHandle, args: &ContentArgs, output: &Output) -> Result<(), Failure> {
    tokio::select! {
        done = follow(task, args, output) => done,
        () = interrupt::first(*output) => Err(Failure::new(
            FailureKind::Cancelled,
            "no longer watched; the task continues, and `mcp tasks cancel` ends it",
        )),
    }
}

/// Prints the states of a task, and the result.
async fn follow(task: TaskHandle, args: &ContentArgs, output: &Output) -> Result<(), Failure> {
    let mut last = None;
    let mut updates = task.updates();
    while let Some(update) = updates.next().await {
        let update = update?;
        if output.json {
            output.document(&to_json(&update)?)
        } else {
            output.note(&escape_line(&line(&update)))
        }
        last = Some(update.status);
    }
    drop(updates);
    if last == Some(TaskStatus::Cancelled) {
        let message = "the task was cancelled";
        return Err(Failure::new(FailureKind::Server, message));
    }
    let result = task.result().await?;
    if output.json {
        // The last state has the result.
        return results::check(&result);
    }
    results::print("task", &result, args.save.as_deref(), output).await
}

/// Prints a task, without its result.
pub(super) fn print(task: &Task, output: &Output) -> Result<(), Failure> {
    output.answer(&to_json(task)?, &line(task));
    Ok(())
}

fn line(task: &Task) -> String {
    let message = task.status_message.as_deref().unwrap_or_default();
    format!("{} {} {message}", task.task_id, task.status.as_str())
        .trim_end()
        .to_owned()
}

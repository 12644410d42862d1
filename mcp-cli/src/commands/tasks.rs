//! `mcp tasks`: calls that run as tasks on their server.

use std::pin::pin;

use futures_util::StreamExt as _;
use futures_util::future::{Either, select};
use mcp::types::escape_line;
use mcp::types::ext::tasks::{Task, TaskStatus};
use mcp::{Client, TaskHandle};

use super::support::{close, to_json};
use super::{interrupt, results};
use crate::cli::{ContentArgs, TargetArgs, TasksCommand};
use crate::failure::{Failure, FailureKind};
use crate::output::Output;
use crate::target;

pub(super) async fn run(command: &TasksCommand, output: &Output) -> Result<(), Failure> {
    match command {
        TasksCommand::Get(args) => get(args, output).await,
        TasksCommand::Watch(args) => watch(args, output).await,
        TasksCommand::Cancel(args) => cancel(args, output).await,
    }
}

async fn get(args: &TargetArgs, output: &Output) -> Result<(), Failure> {
    let (client, id) = connect(args, output).await?;
    let found = client.task(id).await;
    close(&client).await;
    if let Some(task) = found?.task() {
        print(task, output)?;
    }
    Ok(())
}

async fn cancel(args: &TargetArgs, output: &Output) -> Result<(), Failure> {
    let (client, id) = connect(args, output).await?;
    let cancelled = match client.task(id).await {
        Ok(task) => task.cancel().await,
        Err(error) => Err(error),
    };
    // The server may end the task in another state.
    let found = match cancelled {
        Ok(()) => client.task(id).await,
        Err(error) => Err(error),
    };
    close(&client).await;
    if let Some(task) = found?.task() {
        print(task, output)?;
    }
    Ok(())
}

async fn watch(args: &ContentArgs, output: &Output) -> Result<(), Failure> {
    let (client, id) = connect(&args.target, output).await?;
    let done = {
        let watching = pin!(follow(&client, id, args, output));
        let interrupted = pin!(interrupt::first(*output));
        match select(watching, interrupted).await {
            Either::Left((done, _)) => done,
            Either::Right(_) => Err(Failure::new(
                FailureKind::Cancelled,
                "no longer watched; the task continues, and `mcp tasks cancel` ends it",
            )),
        }
    };
    close(&client).await;
    done
}

async fn follow(
    client: &Client,
    id: &str,
    args: &ContentArgs,
    output: &Output,
) -> Result<(), Failure> {
    let task = client.task(id).await?;
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
    finish(task, last, args, output).await
}

/// Prints the result of a task that is over.
async fn finish(
    task: TaskHandle,
    status: Option<TaskStatus>,
    args: &ContentArgs,
    output: &Output,
) -> Result<(), Failure> {
    if status == Some(TaskStatus::Cancelled) {
        let message = "the task was cancelled";
        return Err(Failure::new(FailureKind::Server, message));
    }
    let result = task.result().await?;
    match output.json {
        // The last state has the result.
        true => results::check(&result),
        false => results::print("task", &result, args.save.as_deref(), output).await,
    }
}

/// Connects, and returns the id of the task.
async fn connect<'a>(args: &'a TargetArgs, output: &Output) -> Result<(Client, &'a str), Failure> {
    let (client, words) = target::connect(args, output).await?;
    match words {
        [id] => Ok((client, id)),
        _ => {
            close(&client).await;
            let cure = "pass the id of one task; `mcp call --task` prints it";
            Err(Failure::usage(cure))
        }
    }
}

/// Prints a task, without its result.
pub(super) fn print(task: &Task, output: &Output) -> Result<(), Failure> {
    if output.json {
        output.document(&to_json(task)?)
    } else {
        output.line(&line(task))
    }
    Ok(())
}

fn line(task: &Task) -> String {
    let message = task.status_message.as_deref().unwrap_or_default();
    format!("{} {} {message}", task.task_id, task.status.as_str())
        .trim_end()
        .to_owned()
}

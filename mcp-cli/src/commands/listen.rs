//! `mcp listen`.

use futures_util::StreamExt as _;
use mcp::{Change, Client};
use serde_json::{Value, json};

use super::interrupt;
use crate::cli::ListenArgs;
use crate::failure::Failure;
use crate::output::Output;
use crate::target;

pub(super) async fn run(args: &ListenArgs, output: &Output) -> Result<(), Failure> {
    target::with_client(&args.target, output, async |client, uris| {
        tokio::select! {
            done = listen(client, uris, args.count, output) => done,
            () = interrupt::first(*output) => Ok(()),
        }
    })
    .await
}

async fn listen(
    client: &Client,
    uris: &[String],
    count: Option<usize>,
    output: &Output,
) -> Result<(), Failure> {
    let subscribe = client.subscribe(uris.iter().cloned());
    let changes = subscribe
        .tools_changed()
        .prompts_changed()
        .resources_changed();
    let changes = changes.await?;
    output.note("listening; Ctrl-C ends");
    let mut changes = changes.take(count.unwrap_or(usize::MAX));
    while let Some(change) = changes.next().await {
        let change = change?;
        let (kind, uri) = describe(&change);
        let line = format!("{kind} {}", uri.as_str().unwrap_or_default());
        output.answer(&json!({"change": kind, "uri": uri}), line.trim_end());
    }
    Ok(())
}

fn describe(change: &Change) -> (&str, Value) {
    match change {
        Change::Tools => ("tools", Value::Null),
        Change::Prompts => ("prompts", Value::Null),
        Change::Resources => ("resources", Value::Null),
        Change::Resource { uri } => ("resource", uri.as_str().into()),
        Change::Missed(_) => ("missed", Value::Null),
        Change::Other { method, .. } => (method, Value::Null),
        _ => ("other", Value::Null),
    }
}

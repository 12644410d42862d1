//! `mcp listen`.

use std::pin::pin;

use futures_util::StreamExt as _;
use futures_util::future::{Either, select};
use mcp::{Change, Client};
use serde_json::{Value, json};

use super::interrupt;
use super::support::close;
use crate::cli::ListenArgs;
use crate::failure::Failure;
use crate::output::Output;
use crate::target;

pub(super) async fn run(args: &ListenArgs, output: &Output) -> Result<(), Failure> {
    let (client, uris) = target::connect(&args.target, output).await?;
    let done = {
        let listening = pin!(listen(&client, uris, args.count, output));
        let interrupted = pin!(interrupt::first(*output));
        match select(listening, interrupted).await {
            Either::Left((done, _)) => done,
            Either::Right(_) => Ok(()),
        }
    };
    close(&client).await;
    done
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
        if output.json {
            output.document(&json!({"change": kind, "uri": uri}));
        } else {
            output.line(format!("{kind} {}", uri.as_str().unwrap_or_default()).trim_end());
        }
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

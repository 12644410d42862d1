//! `mcp listen`.

use futures_util::StreamExt as _;
use mcp::Client;
use serde_json::json;

use super::interrupt;
use crate::cli::ListenArgs;
use crate::failure::Failure;
use crate::output::{Output, describe_change};
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
        let (kind, uri) = describe_change(&change);
        let line = format!("{kind} {}", uri.unwrap_or_default());
        output.answer(&json!({"change": kind, "uri": uri}), line.trim_end());
    }
    Ok(())
}

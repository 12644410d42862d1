//! `mcp read`.

use super::contents::Contents;
use super::interrupt;
use super::support::to_json;
use crate::cli::ContentArgs;
use crate::failure::Failure;
use crate::output::Output;
use crate::target;

pub(super) async fn run(args: &ContentArgs, output: &Output) -> Result<(), Failure> {
    target::with_client(&args.target, output, async |client, words| {
        let [uri] = words else {
            return Err(Failure::usage(
                "pass one URI; `mcp list` shows the resources",
            ));
        };
        let read = client
            .read_resource(uri)
            .on_progress(|update| output.progress(&update))
            .cancel_on(interrupt::first(*output))
            .await;
        output.erase_progress();
        let result = read?;
        let mut contents = Contents::new(uri, args.save.as_deref(), output);
        for part in &result.contents {
            contents.show_resource(part).await?;
        }
        if output.json {
            output.document(&to_json(&result)?);
        }
        Ok(())
    })
    .await
}

//! `mcp complete`.

use mcp::types::{CompleteParams, CompletionReference};

use super::support::to_json;
use super::{interrupt, prompt};
use crate::cli::TargetArgs;
use crate::failure::Failure;
use crate::output::Output;
use crate::{target, values};

pub(super) async fn run(args: &TargetArgs, output: &Output) -> Result<(), Failure> {
    let result = target::with_client(args, output, async |client, words| {
        let [reference, argument, context @ ..] = words else {
            return Err(Failure::usage(
                "pass a prompt or a template, and KEY=PREFIX",
            ));
        };
        let call = client.complete(params(reference, argument, context)?);
        Ok(call.cancel_on(interrupt::first(*output)).await?)
    });
    let result = result.await?;
    if output.json {
        output.document(&to_json(&result)?);
    } else {
        for value in &result.completion.values {
            output.line(value);
        }
    }
    Ok(())
}

fn params(reference: &str, argument: &str, context: &[String]) -> Result<CompleteParams, Failure> {
    let is_template = reference.contains("://") || reference.contains('{');
    let reference = if is_template {
        CompletionReference::template(reference)
    } else {
        CompletionReference::prompt(reference)
    };
    let (name, prefix) = values::split(argument)?;
    let params = CompleteParams::new(reference, name, prefix);
    match context {
        [] => Ok(params),
        context => Ok(params.context(prompt::arguments(context)?)),
    }
}

//! `mcp complete`.

use mcp::types::{CompleteParams, CompletionReference};

use super::support::{close, to_json};
use super::{interrupt, prompt};
use crate::cli::TargetArgs;
use crate::failure::Failure;
use crate::output::Output;
use crate::{target, values};

pub(super) async fn run(args: &TargetArgs, output: &Output) -> Result<(), Failure> {
    let (client, words) = target::connect(args, output).await?;
    let params = match words {
        [reference, argument, context @ ..] => params(reference, argument, context),
        _ => Err(Failure::usage(
            "pass a prompt or a template, and KEY=PREFIX",
        )),
    };
    let done = match params {
        Ok(params) => {
            let call = client.complete(params);
            call.cancel_on(interrupt::first(*output))
                .await
                .map_err(Failure::from)
        }
        Err(failure) => Err(failure),
    };
    close(&client).await;
    let result = done?;
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

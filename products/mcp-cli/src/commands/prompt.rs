//! `mcp prompt`.

use serde_json::{Map, Value};

use super::contents::Contents;
use super::interrupt;
use super::support::to_json;
use crate::cli::ContentArgs;
use crate::failure::Failure;
use crate::output::Output;
use crate::{target, values};

pub(super) async fn run(args: &ContentArgs, output: &Output) -> Result<(), Failure> {
    target::with_client(&args.target, output, async |client, words| {
        let Some((name, words)) = words.split_first() else {
            return Err(Failure::usage(
                "no prompt is given; `mcp list` shows the prompts",
            ));
        };
        let call = client.get_prompt(name, arguments(words)?);
        let result = call.cancel_on(interrupt::first(*output)).await?;
        let mut contents = Contents::new(name, args.save.as_deref(), output);
        for message in &result.messages {
            if !output.json {
                output.heading(&format!("{}:", message.role));
            }
            contents.show(&message.content).await?;
        }
        if output.json {
            output.document(&to_json(&result)?);
        }
        Ok(())
    })
    .await
}

/// Prompt arguments are strings.
pub(super) fn arguments(words: &[String]) -> Result<Map<String, Value>, Failure> {
    let pairs = words.iter().map(|word| values::split(word));
    pairs
        .map(|pair| pair.map(|(key, value)| (key.to_owned(), value.into())))
        .collect()
}

//! `mcp prompt`.

use serde_json::{Map, Value};

use super::contents::Contents;
use super::interrupt;
use super::support::{close, to_json};
use crate::cli::ContentArgs;
use crate::failure::Failure;
use crate::output::Output;
use crate::{target, values};

pub(super) async fn run(args: &ContentArgs, output: &Output) -> Result<(), Failure> {
    let (client, words) = target::connect(&args.target, output).await?;
    let Some((name, words)) = words.split_first() else {
        close(&client).await;
        return Err(Failure::usage(
            "no prompt is given; `mcp list` shows the prompts",
        ));
    };
    let arguments = arguments(words)?;
    let found = client
        .get_prompt(name, arguments)
        .cancel_on(interrupt::first(*output))
        .await;
    close(&client).await;
    let result = found?;
    let mut contents = Contents::new(name, args.save.as_deref(), output);
    for message in &result.messages {
        let block = std::slice::from_ref(&message.content);
        if output.json {
            contents.save_blocks(block).await?;
        } else {
            output.heading(&format!("{}:", message.role));
            contents.print_blocks(block).await?;
        }
    }
    if output.json {
        output.document(&to_json(&result)?);
    }
    Ok(())
}

/// Arguments of prompts are strings.
pub(super) fn arguments(words: &[String]) -> Result<Map<String, Value>, Failure> {
    let pairs = words.iter().map(|word| values::split(word));
    pairs
        .map(|pair| pair.map(|(key, value)| (key.to_owned(), value.into())))
        .collect()
}

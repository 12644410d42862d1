//! Checks the tools of a server for `cargo xtask interop`: their definitions for each provider are valid by the metaschema and
//! by the provider's rules, and no tool is left out.
//!
//! `tool-definitions [NAME=VALUE…] PROGRAM [ARGUMENTS…]` starts a server with these variables, prints the problems, and `T tools, D definitions, N invalid`.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "prints its findings; the checker is shared with tests"
)]

#[path = "../../../../integrations/mcp-toolset/tests/it/checker.rs"]
mod checker;

use std::collections::HashSet;
use std::process::Command;

use mcp::prelude::*;
use mcp::toolset::{Provider, ToolSet};
use serde_json::Value;

const PROVIDERS: [Provider; 5] = [
    Provider::Anthropic,
    Provider::OpenAiChat,
    Provider::OpenAiResponses,
    Provider::OpenAiResponsesStrict,
    Provider::Gemini,
];
/// Tools of one request.
const PART: usize = 100;

#[tokio::main]
async fn main() -> mcp::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let variables = words.iter().map_while(|word| word.split_once('='));
    let variables: Vec<_> = variables.collect();
    let (program, arguments) = words[variables.len()..].split_first().unzip();
    let mut command = Command::new(program.map_or("", String::as_str));
    command.args(arguments.unwrap_or_default()).envs(variables);
    let client = Client::connect(command).await?;
    let listed = client.list_tools().await?;
    let (mut definitions, mut invalid) = (0, 0);
    for part in listed.chunks(PART) {
        let names: HashSet<String> = part.iter().map(|tool| tool.name.clone()).collect();
        for provider in PROVIDERS {
            let names = names.clone();
            let tools = ToolSet::from(&client).filter(move |tool| names.contains(&tool.name));
            let tools = tools.definitions(provider).await?;
            let found = checker::problems(provider, &tools);
            let names: HashSet<_> = found
                .iter()
                .map(|problem| problem.split(':').next())
                .collect();
            let count = count(&tools);
            let missing = part.len() - count;
            if missing > 0 {
                println!("{provider:?}: {missing} tools are left out");
            }
            for problem in &found {
                println!("{provider:?}: {problem}");
            }
            definitions += count;
            invalid += names.len() + missing;
        }
    }
    println!(
        "{} tools, {definitions} definitions, {invalid} invalid",
        listed.len()
    );
    client.close().await?;
    Ok(())
}

/// Returns the number of definitions in a request.
fn count(tools: &Value) -> usize {
    let functions = tools[0].get("functionDeclarations").unwrap_or(tools);
    functions.as_array().map_or(0, Vec::len)
}

//! `mcp call`.

use mcp::client::Error;
use mcp::core::Fault;
use mcp::types::ext::tasks::Task;
use mcp::types::{LoggingLevel, Tool, codes, escape_line};
use mcp::{CallToolResult, Client};
use serde_json::{Map, Value};

use super::{interrupt, results, tasks};
use crate::cli::CallArgs;
use crate::failure::{Failure, usage};
use crate::name_cache::Names;
use crate::output::Output;
use crate::{questions, target, values};

/// Longest arguments on standard input, in bytes: 64 MiB.
const MAX_BYTES: u64 = 64 << 20;

pub(super) async fn run(args: &CallArgs, output: &Output) -> Result<(), Failure> {
    let given = read_json(args.args_json.as_deref())?;
    let called = target::with_client(&args.content.target, output, async |client, words| {
        call(client, words, given, args, output).await
    });
    match called.await? {
        Called::Done(name, result) => {
            results::print(&name, &result, args.content.save.as_deref(), output).await
        }
        Called::Task(task) => tasks::print(&task, output),
    }
}

/// The outcome of a call.
enum Called {
    /// The tool name, and its result.
    Done(String, Box<CallToolResult>),
    /// The call runs as a task.
    Task(Box<Task>),
}

async fn call(
    client: &Client,
    words: &[String],
    mut args: Map<String, Value>,
    flags: &CallArgs,
    output: &Output,
) -> Result<Called, Failure> {
    let Some((name, words)) = words.split_first() else {
        return Err(Failure::usage(
            "no tool is given; `mcp list` shows the tools",
        ));
    };
    let (tool, hint) = find(client, name, flags).await?;
    values::add(&mut args, words, &tool.input_schema)?;
    ask_missing(&mut args, &tool, output).await?;
    let refused = |error: Error| match hint {
        Some(hint) if is_unknown_tool(&error) => usage!("{error}; {hint}"),
        _ => error.into(),
    };
    let call = client
        .call(name, args)
        .log_level(LoggingLevel::Info)
        .on_progress(|update| output.progress(&update))
        .on_log(|message| output.log(&message))
        .cancel_on(interrupt::first(*output));
    if !flags.task {
        let result = call.await;
        output.erase_progress();
        return Ok(Called::Done(
            name.clone(),
            Box::new(result.map_err(refused)?),
        ));
    }
    let started = call.start().await;
    output.erase_progress();
    let task = started.map_err(refused)?;
    match task.task().cloned() {
        Some(task) => Ok(Called::Task(Box::new(task))),
        None => Ok(Called::Done(name.clone(), Box::new(task.result().await?))),
    }
}

/// Finds a tool. One that is not listed is called all the same: a gateway lists the tools of a server that starts
/// slowly later. Such a tool has no schema, and comes with a hint for the case that the server does not know it.
async fn find(
    client: &Client,
    name: &str,
    flags: &CallArgs,
) -> Result<(Tool, Option<String>), Failure> {
    let tools = client.list_tools().await?;
    Names::update(&flags.content.target.server, |names| {
        names.set_tools(&tools)
    });
    if let Some(tool) = tools.iter().find(|tool| tool.name == name) {
        return Ok((tool.clone(), None));
    }
    let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
    let names = names.join(", ");
    let hint = format!("the server lists no tool {name:?}; it has: {names}");
    Ok((Tool::new(name).input_schema(Map::new()), Some(hint)))
}

/// Returns true if the server refuses the parameters of a call, as it does for a tool that it does not know.
fn is_unknown_tool(error: &Error) -> bool {
    match error.fault() {
        Some(Fault::NoSuchItem { .. } | Fault::BadParams { .. }) => true,
        Some(Fault::Protocol(error)) => error.code == codes::INVALID_PARAMS,
        _ => false,
    }
}

/// Asks for required arguments that are missing, if a user can answer.
async fn ask_missing(
    args: &mut Map<String, Value>,
    tool: &Tool,
    output: &Output,
) -> Result<(), Failure> {
    let missing = values::missing(args, &tool.input_schema);
    if !missing.is_empty() && !questions::can_ask() {
        let missing = missing.join(", ");
        return Err(usage!("required arguments are missing: {missing}"));
    }
    for name in missing {
        let value = ask_argument(&name, tool, output).await?;
        args.insert(name, value);
    }
    Ok(())
}

/// Asks for an argument until the answer has its type.
async fn ask_argument(name: &str, tool: &Tool, output: &Output) -> Result<Value, Failure> {
    loop {
        let Some(text) = questions::line(output, &format!("{name}: ")).await else {
            return Err(usage!("the required argument {name:?} is missing"));
        };
        match values::typed(name, &text, &tool.input_schema) {
            Ok(value) => return Ok(value),
            Err(problem) => output.question(&format!("{}\n", escape_line(&problem.to_string()))),
        }
    }
}

fn read_json(given: Option<&str>) -> Result<Map<String, Value>, Failure> {
    let text = match given {
        None => return Ok(Map::new()),
        Some("-") => mcp_files::read_from(std::io::stdin().lock(), MAX_BYTES)
            .map_err(|error| usage!("standard input cannot be read: {error}"))?,
        Some(text) => text.to_owned(),
    };
    serde_json::from_str(&text).map_err(|error| usage!("--args-json is not a JSON object: {error}"))
}

//! Turns inspector requests into `Client` calls: the client handles revisions, caches and headers.

use mcp::prelude::*;
use mcp::schema::lint;
use mcp::types::{
    CompleteParams, CompletionReference, JsonObject, LoggingLevel, Method, RawObject,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::history::History;
use super::{skills, tasks};
use crate::lints;

/// The parameters of a tool call or `prompts/get`.
#[derive(Deserialize)]
struct Named {
    name: String,
    /// Sent as the user has written them.
    #[serde(default)]
    arguments: RawObject,
}

#[derive(Deserialize)]
struct Located {
    uri: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfTask {
    task_id: String,
}

#[derive(Deserialize)]
struct Level {
    level: Option<LoggingLevel>,
}

/// The argument of a prompt or template that is completed, with the arguments before it.
#[derive(Deserialize)]
struct Completed {
    prompt: Option<String>,
    template: Option<String>,
    argument: String,
    value: String,
    #[serde(default)]
    context: JsonObject,
}

/// Sends a request, and returns its result as the page needs it. Arguments and results stay JSON text, whose numbers a
/// [`Value`] would round.
pub(super) async fn send(
    client: &Client,
    method: &str,
    params: &RawValue,
    token: CancellationToken,
    history: &History,
) -> Result<Box<RawValue>, String> {
    let cancelled = token.clone().cancelled_owned();
    macro_rules! list {
        ($list:ident, $name:literal) => {{
            let list = client.$list().fresh().cancel_on(cancelled);
            write(&json!({ $name: list.await.map_err(describe)? }))
        }};
    }
    match Method::from_name(method) {
        Some(Method::ListTools) => {
            let tools = client.list_tools().fresh().cancel_on(cancelled);
            let tools = tools.await.map_err(describe)?;
            let lints: Vec<Value> = tools
                .iter()
                .flat_map(lint)
                .map(|lint| lints::document(&lint))
                .collect();
            write(&json!({"tools": tools, "lints": lints}))
        }
        Some(Method::ListPrompts) => list!(list_prompts, "prompts"),
        Some(Method::ListResources) => list!(list_resources, "resources"),
        Some(Method::ListResourceTemplates) => {
            list!(list_resource_templates, "resourceTemplates")
        }
        Some(Method::CallTool) => call_tool(client, read(params)?, &token, history).await,
        // The result of a task that was started before.
        Some(Method::TaskResult) => {
            let OfTask { task_id } = read(params)?;
            let task = client.task(task_id).await.map_err(describe)?;
            let finished = tasks::finish(task, None, &token, history);
            write(&finished.await.map_err(|error| error.to_string())?)
        }
        Some(Method::CancelTask) => {
            let OfTask { task_id } = read(params)?;
            let task = client.task(task_id).await.map_err(describe)?;
            task.cancel().await.map_err(describe)?;
            write(&json!({}))
        }
        Some(Method::ListSkills) => {
            let skills = skills::list(client).await;
            write(&skills.map_err(|error| error.to_string())?)
        }
        Some(Method::GetSkill) => {
            let skill = skills::read(client, read(params)?).await;
            write(&skill.map_err(|error| error.to_string())?)
        }
        Some(Method::GetPrompt) => {
            let Named { name, arguments } = read(params)?;
            let call = client.get_prompt(name, arguments).cancel_on(cancelled);
            write(&call.await.map_err(describe)?)
        }
        Some(Method::ReadResource) => {
            let Located { uri } = read(params)?;
            let call = client.read_resource(uri).fresh().cancel_on(cancelled);
            write(&call.await.map_err(describe)?)
        }
        Some(Method::Complete) => {
            let call = client.complete(completion(read(params)?)?);
            write(&call.cancel_on(cancelled).await.map_err(describe)?)
        }
        Some(Method::SetLevel) => {
            let Level { level } = read(params)?;
            client.set_log_level(level).await.map_err(describe)?;
            write(&json!({}))
        }
        Some(Method::Ping) => {
            client.ping().await.map_err(describe)?;
            write(&json!({}))
        }
        _ => {
            let params: RawObject = read(params)?;
            let call = client.request(method, params).cancel_on(cancelled);
            write(&call.await.map_err(describe)?)
        }
    }
}

/// Calls a tool. A call that becomes a task is followed to its result.
async fn call_tool(
    client: &Client,
    Named { name, arguments }: Named,
    token: &CancellationToken,
    history: &History,
) -> Result<Box<RawValue>, String> {
    // Progress and log messages are shown as messages.
    let call = client
        .call(name.clone(), arguments)
        .on_progress(|_| ())
        .on_log(|_| ());
    let call = call
        .log_level(LoggingLevel::Debug)
        .cancel_on(token.clone().cancelled_owned());
    let task = call.start().await.map_err(describe)?;
    let finished = tasks::finish(task, Some(&name), token, history);
    write(&finished.await.map_err(|error| error.to_string())?)
}

fn completion(it: Completed) -> Result<CompleteParams, String> {
    let reference = match (it.prompt, it.template) {
        (Some(prompt), None) => CompletionReference::prompt(prompt),
        (None, Some(template)) => CompletionReference::template(template),
        _ => return Err("either `prompt` or `template` is needed".to_owned()),
    };
    let params = CompleteParams::new(reference, it.argument, it.value);
    Ok(params.context(it.context))
}

fn describe(error: mcp::client::Error) -> String {
    error.to_string()
}

fn read<T: DeserializeOwned>(params: &RawValue) -> Result<T, String> {
    serde_json::from_str(params.get()).map_err(|error| format!("invalid parameters: {error}"))
}

fn write(result: &impl Serialize) -> Result<Box<RawValue>, String> {
    to_raw_value(result).map_err(|error| error.to_string())
}

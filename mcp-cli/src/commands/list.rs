//! `mcp list`: prints a server's tools, prompts, resources and templates.

use futures_util::future::try_join4;
use mcp::Client;
use serde_json::{Value, json};

use super::support::to_json;
use crate::cli::TargetArgs;
use crate::failure::Failure;
use crate::name_cache::Names;
use crate::output::Output;
use crate::target;

pub(super) async fn run(args: &TargetArgs, output: &Output) -> Result<(), Failure> {
    target::with_client_only(args, output, async |client| {
        list(client, args, output).await
    })
    .await
}

async fn list(client: &Client, args: &TargetArgs, output: &Output) -> Result<(), Failure> {
    if client.server_capabilities().is_none() {
        client.discover().await?;
    }
    let has = client.server_capabilities().unwrap_or_default();
    let (tools, prompts, resources, templates) = try_join4(
        when(has.tools.is_some(), client.list_tools()),
        when(has.prompts.is_some(), client.list_prompts()),
        when(has.resources.is_some(), client.list_resources()),
        when(has.resources.is_some(), client.list_resource_templates()),
    )
    .await?;
    Names::update(&args.server, |names| {
        names.set_tools(&tools);
        names.set_prompts(&prompts);
        names.set_resources(resources.iter().map(|resource| resource.uri.clone()));
    });
    if output.json {
        output.document(&json!({
            "tools": to_json(&tools)?,
            "prompts": to_json(&prompts)?,
            "resources": to_json(&resources)?,
            "resourceTemplates": to_json(&templates)?,
        }));
        return Ok(());
    }
    if tools.is_empty() && prompts.is_empty() && resources.is_empty() && templates.is_empty() {
        output.note("the server lists no tools, prompts and resources");
    }
    let describe = |description: &Option<String>, fallback: &str| {
        description.clone().unwrap_or_else(|| fallback.to_owned())
    };
    let tools = tools.iter().map(|tool| {
        let signature = signature(&tool.name, &tool.input_schema);
        (signature, describe(&tool.description, ""))
    });
    section("Tools", tools, output);
    let prompts = prompts
        .iter()
        .map(|prompt| (prompt.name.clone(), describe(&prompt.description, "")));
    section("Prompts", prompts, output);
    let resources = resources.iter().map(|resource| {
        let text = describe(&resource.description, &resource.name);
        (resource.uri.clone(), text)
    });
    section("Resources", resources, output);
    let templates = templates.iter().map(|template| {
        let text = describe(&template.description, &template.name);
        (template.uri_template.clone(), text)
    });
    section("Templates", templates, output);
    Ok(())
}

/// Calls `list` if the server declares the capability. Returns an empty list if it does not, or if it does
/// not know the method.
async fn when<T: Send + 'static>(
    is_declared: bool,
    list: mcp::PreparedCall<'_, Vec<T>>,
) -> Result<Vec<T>, mcp::client::Error> {
    if !is_declared {
        return Ok(Vec::new());
    }
    match list.await {
        Err(error) if error.is_unknown_method() => Ok(Vec::new()),
        list => list,
    }
}

/// Prints a heading and its rows, or nothing without rows.
fn section(title: &str, rows: impl Iterator<Item = (String, String)>, output: &Output) {
    let rows: Vec<_> = rows.collect();
    if !rows.is_empty() {
        output.heading(title);
        output.rows(&rows);
    }
}

/// Returns the name of a tool with its arguments, the optional ones in brackets: `add a b [note]`.
fn signature(name: &str, schema: &serde_json::Map<String, Value>) -> String {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required =
        |key: &str| required.is_some_and(|names| names.iter().any(|name| name == key));
    let mut signature = name.to_owned();
    let properties = schema.get("properties").and_then(Value::as_object);
    for (key, _) in properties.into_iter().flatten() {
        signature += &if is_required(key) {
            format!(" {key}")
        } else {
            format!(" [{key}]")
        };
    }
    signature
}

//! `mcp list`.

use futures_util::future::try_join4;
use mcp::Client;
use serde_json::{Value, json};

use super::support::{close, to_json};
use crate::cli::TargetArgs;
use crate::failure::Failure;
use crate::name_cache::Names;
use crate::output::Output;
use crate::target;

pub(super) async fn run(args: &TargetArgs, output: &Output) -> Result<(), Failure> {
    let client = target::connect_only(args, output).await?;
    let done = list(&client, args, output).await;
    close(&client).await;
    done
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
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let tools = tools.iter().map(|tool| {
        (
            signature(&tool.name, &tool.input_schema),
            text(&tool.description),
        )
    });
    section("Tools", tools, output);
    let prompts = prompts
        .iter()
        .map(|prompt| (prompt.name.clone(), text(&prompt.description)));
    section("Prompts", prompts, output);
    let resources = resources.iter().map(|resource| {
        (
            resource.uri.clone(),
            resource
                .description
                .clone()
                .unwrap_or_else(|| resource.name.clone()),
        )
    });
    section("Resources", resources, output);
    let templates = templates.iter().map(|template| {
        (
            template.uri_template.clone(),
            template
                .description
                .clone()
                .unwrap_or_else(|| template.name.clone()),
        )
    });
    section("Templates", templates, output);
    Ok(())
}

/// Lists items if the server declares the capability. The list is empty if the server does not know it.
async fn when<T: Send + 'static>(
    has: bool,
    list: mcp::PreparedCall<'_, Vec<T>>,
) -> Result<Vec<T>, mcp::client::Error> {
    if has {
        match list.await {
            Err(error) if error.is_unknown_method() => Ok(Vec::new()),
            list => list,
        }
    } else {
        Ok(Vec::new())
    }
}

fn section(title: &str, rows: impl Iterator<Item = (String, String)>, output: &Output) {
    let rows: Vec<_> = rows.collect();
    if !rows.is_empty() {
        output.heading(title);
        output.rows(&rows);
    }
}

/// Returns the name of a tool with its arguments: `add a b [note]`.
fn signature(name: &str, schema: &serde_json::Map<String, Value>) -> String {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required =
        |key: &str| required.is_some_and(|names| names.iter().any(|name| name == key));
    let mut signature = name.to_owned();
    for key in schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(|properties| properties.keys())
    {
        signature.push_str(&if is_required(key) {
            format!(" {key}")
        } else {
            format!(" [{key}]")
        });
    }
    signature
}

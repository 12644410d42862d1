//! The scenarios of the suite.

use mcp::events::Events;
use mcp::prelude::*;
use mcp::skills::{SkillResources, SkillsClient};
use mcp::types::{JsonObject, PrimitiveSchema, ProtocolVersion};
use mcp::{HttpChannel, InputError, Result};
use serde_json::{Value, json};

use crate::{arguments, events};

/// Runs a scenario and closes the client, which deletes a session.
pub(crate) async fn run(scenario: &str, url: &str) -> Result<()> {
    let client = connect(scenario, url).await?;
    let outcome = run_with(&client, scenario).await;
    let closed = client.close().await;
    outcome?;
    Ok(closed?)
}

async fn run_with(client: &Client, scenario: &str) -> Result<()> {
    match scenario {
        "initialize" => list_tools(client).await,
        "tools_call"
        | "request-metadata"
        | "sep-2322-client-request-state"
        | "sse-retry"
        | "elicitation-sep1034-client-defaults" => call_every_tool(client).await,
        "http-standard-headers" => request_all_features(client).await,
        "json-schema-ref-no-deref" => list_tools(client).await,
        "http-custom-headers" => call_listed_in_context(client).await,
        "http-invalid-tool-headers" => call_every_tool(client).await,
        "json-schema-2020-12-preservation" => echo_schema(client).await,
        "sep-2640-client-no-prefetch" => list_skills(client).await,
        "sep-2640-client-verify-digest"
        | "sep-2640-client-verify-size"
        | "sep-2640-client-verify-frontmatter" => load_skills(client).await,
        name if name.starts_with("events-") => events::run(client, name).await,
        _ => Err(std::io::Error::other("unknown scenario").into()),
    }
}

async fn connect(scenario: &str, url: &str) -> Result<Client> {
    // The server of the scenario `sse-retry` assumes that every GET after the call resumes the stream
    // of the call. The client therefore does not open the standalone stream.
    let channel = HttpChannel::new(url)?.standalone_stream(scenario != "sse-retry");
    let client = Client::builder()
        .identity("everything-client", env!("CARGO_PKG_VERSION"))
        .on_elicit(|form: ElicitRequest| async move { accept(&form) })
        .on_sample(|_| async { CreateMessageResult::new("test-model", "test") })
        .roots(["file:///"])
        .extension(Events::new())
        .mode(mode())
        .connect(channel)
        .await?;
    Ok(client)
}

/// Accepts a form. Sends a fixed value for every field that has no default.
fn accept(form: &ElicitRequest) -> Result<ElicitResult, InputError> {
    let fields = form.schema().fields();
    let without_default = fields.filter(|(_, field)| field.default_value().is_none());
    let answers = without_default.map(|(name, field)| {
        let answer = match field {
            PrimitiveSchema::Boolean(_) => json!(true),
            PrimitiveSchema::Number(_) => json!(1),
            _ => json!("test"),
        };
        (name.to_owned(), answer)
    });
    form.accept(answers.collect::<JsonObject>())
}

/// Returns the mode for the revision under test. The servers of legacy revisions require `initialize` as
/// the first message, and may answer it with an older revision.
pub(crate) fn mode() -> ConnectMode {
    let revision = std::env::var("MCP_CONFORMANCE_PROTOCOL_VERSION").unwrap_or_default();
    match revision.parse::<ProtocolVersion>() {
        Ok(version) if !version.is_modern() => ConnectMode::Legacy,
        _ => ConnectMode::Auto,
    }
}

async fn list_tools(client: &Client) -> Result<()> {
    for tool in client.list_tools().await? {
        println!(
            "{}: {}",
            tool.name,
            tool.description.as_deref().unwrap_or_default()
        );
    }
    Ok(())
}

pub(crate) async fn call_every_tool(client: &Client) -> Result<()> {
    for tool in client.list_tools().await? {
        let result = client
            .call(&tool.name, arguments::for_schema(&tool.input_schema))
            .await?;
        println!("{}: {}", tool.name, result.text());
    }
    Ok(())
}

async fn request_all_features(client: &Client) -> Result<()> {
    call_every_tool(client).await?;
    for resource in client.list_resources().await? {
        client.read_resource(&resource.uri).await?;
    }
    for prompt in client.list_prompts().await? {
        client.get_prompt(&prompt.name, ()).await?;
    }
    Ok(())
}

/// Lists the skills, and reads none of their files.
async fn list_skills(client: &Client) -> Result<()> {
    for skill in SkillsClient::new(client).await?.list().await? {
        println!("{}: {}", skill.uri, skill.description().unwrap_or_default());
    }
    Ok(())
}

/// Loads each listed skill, and reads its files if its instructions are what the list promises.
async fn load_skills(client: &Client) -> Result<()> {
    let skills = SkillsClient::new(client).await?;
    for entry in skills.list().await? {
        let files = entry.resources.clone();
        let loaded = match skills.load_entry(entry).await {
            Ok(loaded) => loaded,
            Err(error) if error.is_verification() => {
                println!("{error}");
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        if let SkillResources::Listed(files) = files {
            for file in files {
                loaded.read(&file.uri).await?;
            }
        }
    }
    Ok(())
}

/// Lists the tools, then makes the calls that the environment variable `MCP_CONFORMANCE_CONTEXT` lists.
async fn call_listed_in_context(client: &Client) -> Result<()> {
    list_tools(client).await?;
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
    let context: Value = serde_json::from_str(&context).map_err(std::io::Error::other)?;
    let calls = context["toolCalls"].as_array().into_iter().flatten();
    for call in calls {
        let name = call["name"].as_str().unwrap_or_default();
        let result = client.call(name, &call["arguments"]).await?;
        println!("{name}: {}", result.text());
    }
    Ok(())
}

/// Sends the schema of a tool back to the server.
async fn echo_schema(client: &Client) -> Result<()> {
    let tools = client.list_tools().await?;
    let tool = tools
        .iter()
        .find(|tool| tool.name == "json_schema_2020_12_tool");
    let schema = tool.map(|tool| &tool.input_schema);
    let result = client
        .call("json_schema_echo", json!({"schema": schema}))
        .await?;
    println!("{}", result.text());
    Ok(())
}

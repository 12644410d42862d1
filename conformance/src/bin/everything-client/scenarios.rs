//! What each scenario asks of a client.

use mcp::Result;
use mcp::prelude::*;
use mcp::types::ClientCapabilities;

use crate::arguments;

pub(crate) async fn run(scenario: &str, url: &str) -> Result<()> {
    let client = connect(url).await?;
    match scenario {
        "tools_call" | "request-metadata" => call_every_tool(&client).await,
        "http-standard-headers" => ask_for_everything(&client).await,
        "json-schema-ref-no-deref" => list_tools(&client).await,
        _ => Err(std::io::Error::other("unknown scenario").into()),
    }
}

async fn connect(url: &str) -> Result<Client> {
    let everything = ClientCapabilities::default()
        .with_roots()
        .with_sampling()
        .with_elicitation();
    Client::builder()
        .identity("everything-client", env!("CARGO_PKG_VERSION"))
        .capabilities(everything)
        .connect(url)
        .await
}

async fn list_tools(client: &Client) -> Result<()> {
    for tool in client.list_all_tools().await? {
        println!("{}: {}", tool.name, tool.description());
    }
    Ok(())
}

async fn call_every_tool(client: &Client) -> Result<()> {
    for tool in client.list_all_tools().await? {
        let result = client
            .call(&tool.name, arguments::for_schema(&tool.input_schema))
            .await?;
        println!("{}: {}", tool.name, result.text());
    }
    Ok(())
}

async fn ask_for_everything(client: &Client) -> Result<()> {
    call_every_tool(client).await?;
    for resource in client.list_all_resources().await? {
        client.read_resource(&resource.uri).await?;
    }
    for prompt in client.list_all_prompts().await? {
        client.get_prompt(&prompt.name, ()).await?;
    }
    Ok(())
}

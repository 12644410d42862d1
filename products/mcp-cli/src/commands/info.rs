//! `mcp info`.

use mcp::Client;
use serde_json::json;

use super::support::to_json;
use crate::cli::TargetArgs;
use crate::failure::Failure;
use crate::output::Output;
use crate::target;

pub(super) async fn run(args: &TargetArgs, output: &Output) -> Result<(), Failure> {
    target::with_client_only(args, output, async |client| info(client, output).await).await
}

async fn info(client: &Client, output: &Output) -> Result<(), Failure> {
    let capabilities = to_json(&client.capabilities().await?)?;
    let server = to_json(&client.server_info())?;
    let negotiation = client.negotiation().to_string();
    let version = client.protocol_version();
    let instructions = client.instructions();
    if output.json {
        output.document(&json!({
            "server": server,
            "protocolVersion": version.as_str(),
            "capabilities": capabilities,
            "instructions": instructions,
            "negotiation": negotiation,
        }));
        return Ok(());
    }
    let member = |name: &str| server[name].as_str().unwrap_or("unknown").to_owned();
    let names = capabilities
        .as_object()
        .into_iter()
        .flat_map(|members| members.keys().cloned());
    let names = names.collect::<Vec<_>>().join(", ");
    let rows = [
        ("name", member("name")),
        ("version", member("version")),
        ("protocol", version.to_string()),
        ("capabilities", names),
        ("negotiation", negotiation),
    ];
    output.rows(rows);
    if let Some(instructions) = instructions {
        output.heading("Instructions");
        output.text(&instructions);
    }
    Ok(())
}

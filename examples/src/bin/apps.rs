//! A tool with a user interface, and a host that shows it. The view is a function of this program; in a
//! real host it is a sandboxed frame.
//!
//! `cargo run -p examples --bin apps`

#![allow(clippy::print_stdout, reason = "a command line program")]

use std::error::Error;

use futures_channel::mpsc;
use futures_util::{SinkExt as _, StreamExt as _};
use mcp::apps::{App, AppDocument, Apps, Csp, HostBridge, ToolUi, model_tools};
use mcp::prelude::*;
use serde_json::{Value, json};

const HTML: &str = "<!doctype html><title>Forecast</title><div id='out'></div>";

struct Weather;

#[mcp::server]
impl Weather {
    /// The forecast of a city.
    #[tool(app = "ui://forecast")]
    fn forecast(city: String) -> String {
        format!("{city}: sunny")
    }

    /// New data for the view.
    #[tool(app = "ui://forecast", app_only)]
    fn refresh(city: String) -> String {
        format!("{city}: still sunny")
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let app = App::new("ui://forecast", HTML).csp(Csp::new().connect("https://api.example.com"));
    let server = Server::of(Weather).extension(Apps::new().app(app));
    let builder = Client::builder().extension(Apps::new());
    let client = builder.connect(mcp::InProcess(server)).await?;

    // The model receives the tools that are for it.
    let tools = model_tools(client.list_tools().await?);
    let tool = tools.first().ok_or("no tool")?;
    println!("the model may call: {}", tool.name);

    // The host fetches the tool's document, and shows it with this policy.
    let uri = ToolUi::of(tool)
        .and_then(|ui| ui.resource_uri)
        .ok_or("no app")?;
    let document = AppDocument::new(&uri, &client.read_resource(&*uri).await?, None)?;
    println!("{} bytes, {}", document.html().len(), document.csp_header());

    // It connects a view, and passes it the call.
    let (to_host, from_view) = mpsc::channel(16);
    let (to_view, from_host) = mpsc::channel(16);
    let bridge = HostBridge::new("example-host", "1.0.0").serve(client.clone());
    let (view, connection) = bridge.connect(from_view, to_view);
    tokio::spawn(connection);
    let frame = tokio::spawn(run_view(to_host, from_host));
    let arguments = json!({"city": "Rome"});
    view.send_input(&arguments).await?;
    view.send_result(&client.call("forecast", arguments).await?)
        .await?;
    frame.await??;
    Ok(())
}

/// The view: JSON-RPC by hand. Pages use the package `@modelcontextprotocol/ext-apps`.
async fn run_view(
    mut host: mpsc::Sender<String>,
    mut messages: mpsc::Receiver<String>,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "ui/initialize", "params": {
        "protocolVersion": "2026-01-26",
        "appInfo": {"name": "forecast", "version": "1.0.0"},
        "appCapabilities": {},
    }});
    host.send(initialize.to_string()).await?;
    while let Some(text) = messages.next().await {
        let message: Value = serde_json::from_str(&text)?;
        match (message["id"].as_u64(), message["method"].as_str()) {
            (Some(1), _) => {
                println!(
                    "the view is shown by {}",
                    message["result"]["hostInfo"]["name"]
                );
                let done = json!({"jsonrpc": "2.0", "method": "ui/notifications/initialized"});
                host.send(done.to_string()).await?;
            }
            (Some(2), _) => {
                println!(
                    "the view refreshed: {}",
                    message["result"]["content"][0]["text"]
                );
                return Ok(());
            }
            (_, Some("ui/notifications/tool-result")) => {
                println!(
                    "the view received: {}",
                    message["params"]["content"][0]["text"]
                );
                let params = json!({"name": "refresh", "arguments": {"city": "Rome"}});
                let call =
                    json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
                host.send(call.to_string()).await?;
            }
            _ => {}
        }
    }
    Ok(())
}

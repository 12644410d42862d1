//! A host of MCP Apps: it shows the apps of a server to views that are functions of this program.

use futures_util::{Sink, SinkExt as _, Stream, StreamExt as _, sink, stream};
use mcp::apps::{AppDocument, Apps, HostBridge, ToolAccess, ToolUi, model_tools};
use mcp::prelude::*;
use mcp::{ConnectMode, Result};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::arguments;

/// Shows each tool that has an app and is for the model.
pub(crate) async fn run(url: &str, mode: ConnectMode) -> Result<()> {
    let builder = Client::builder()
        .identity("everything-client", env!("CARGO_PKG_VERSION"))
        .extension(Apps::new());
    let client = builder.mode(mode).connect(url).await?;
    let tools = client.list_tools().await?;
    for tool in model_tools(tools.clone()) {
        if let Some(uri) = ToolUi::of(&tool).and_then(|ui| ui.resource_uri) {
            show(&client, &tools, &tool, &uri).await?;
        }
    }
    Ok(client.close().await?)
}

/// Calls a tool, and shows its app.
async fn show(client: &Client, tools: &[Tool], tool: &Tool, uri: &str) -> Result<()> {
    let read = client.read_resource(uri).await?;
    let document = AppDocument::new(uri, &read, None).map_err(failed)?;
    println!("{}: {}", tool.name, document.csp_header());
    let (to_host, from_page) = pipe();
    let (to_page, from_host) = pipe();
    let bridge = HostBridge::new("everything-client", env!("CARGO_PKG_VERSION"))
        .document(document)
        .serve(client.clone());
    let (view, connection) = bridge.connect(from_page, to_page);
    let connection = tokio::spawn(connection);
    let arguments = arguments::for_schema(&tool.input_schema);
    let result = client.call(&tool.name, &arguments).await?;
    let mut page = Page {
        to_host,
        from_host,
        last_id: 0,
    };
    let host = async {
        view.send_input(&arguments).await.map_err(failed)?;
        view.send_result(&result).await.map_err(failed)
    };
    let run = async {
        let shown = page.show().await?;
        println!("the view shows: {shown}");
        page.call_tools(tools).await?;
        page.read_resources().await
    };
    let outcome = tokio::try_join!(host, run);
    connection.abort();
    outcome.map(|((), ())| ())
}

/// The two ends of a message queue.
fn pipe() -> (
    impl Sink<String> + Send + Unpin,
    impl Stream<Item = String> + Send + Unpin,
) {
    let (sender, receiver) = mpsc::channel(16);
    let sink = sink::unfold(sender, async |sender: mpsc::Sender<String>, text| {
        sender.send(text).await?;
        Ok::<_, mpsc::error::SendError<String>>(sender)
    });
    let stream = stream::unfold(receiver, async |mut receiver| {
        let text = receiver.recv().await?;
        Some((text, receiver))
    });
    (Box::pin(sink), stream.boxed())
}

/// A page that speaks JSON-RPC by hand.
struct Page<I, O> {
    to_host: O,
    from_host: I,
    last_id: u32,
}

impl<I: Stream<Item = String> + Unpin, O: Sink<String> + Unpin> Page<I, O> {
    /// Initializes the page, and returns the text of the result that it receives.
    async fn show(&mut self) -> Result<String> {
        let params = json!({
            "protocolVersion": "2026-01-26",
            "appInfo": {"name": "page", "version": "1.0.0"},
            "appCapabilities": {},
        });
        let initialized = self.request("ui/initialize", &params).await?;
        if initialized["result"]["hostCapabilities"]["sandbox"].is_null() {
            return Err(failed("the host does not say what it grants"));
        }
        let method = "ui/notifications/initialized";
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": {}}))
            .await?;
        let mut expected = [
            "ui/notifications/tool-input",
            "ui/notifications/tool-result",
        ];
        loop {
            let message = self.receive().await?;
            if message["method"] != expected[0] {
                return Err(failed(format!("{message} instead of {}", expected[0])));
            }
            if expected[0] == expected[1] {
                let text = &message["params"]["content"][0]["text"];
                return Ok(text.as_str().unwrap_or_default().to_owned());
            }
            expected[0] = expected[1];
        }
    }

    /// Calls the tools for views, and those for models, which the host must refuse.
    async fn call_tools(&mut self, tools: &[Tool]) -> Result<()> {
        for tool in tools {
            let access = ToolAccess::of(tool);
            if access.app == access.model {
                continue;
            }
            let params = json!({"name": tool.name, "arguments": {}});
            let response = self.request("tools/call", &params).await?;
            println!("{}: {}", tool.name, response);
            if response["result"].is_object() != access.app {
                return Err(failed(format!("{}: {response}", tool.name)));
            }
        }
        Ok(())
    }

    async fn read_resources(&mut self) -> Result<()> {
        let listed = self.request("resources/list", &json!({})).await?;
        let listed = listed["result"]["resources"].as_array();
        let first = listed.and_then(|list| list.first());
        let uri = first.ok_or_else(|| failed("the page sees no resources"))?["uri"].clone();
        let read = self.request("resources/read", &json!({"uri": uri})).await?;
        if read["result"]["contents"].is_array() {
            Ok(())
        } else {
            Err(failed(read))
        }
    }

    async fn request(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await?;
        let response = self.receive().await?;
        if response["id"] == id {
            Ok(response)
        } else {
            Err(failed(format!("{method}: {response}")))
        }
    }

    async fn send(&mut self, message: &Value) -> Result<()> {
        let sent = self.to_host.send(message.to_string()).await;
        sent.map_err(|_| failed("the host has ended"))
    }

    async fn receive(&mut self) -> Result<Value> {
        let text = self.from_host.next().await;
        let text = text.ok_or_else(|| failed("the host has ended"))?;
        serde_json::from_str(&text).map_err(failed)
    }
}

fn failed(error: impl ToString) -> mcp::Error {
    std::io::Error::other(error.to_string()).into()
}

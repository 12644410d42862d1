//! A scripted view, in the same process as the host.

use futures::channel::mpsc;
use futures::{SinkExt as _, StreamExt as _};
use mcp::apps::{HostBridge, View, ViewError};
use mcp::prelude::*;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

/// The side of the view: it sends and receives JSON.
pub(crate) struct ScriptedView {
    sender: mpsc::Sender<String>,
    receiver: mpsc::Receiver<String>,
}

/// Connects a bridge with a view that has sent nothing.
pub(crate) fn connect(
    bridge: HostBridge,
) -> (View, ScriptedView, JoinHandle<Result<(), ViewError>>) {
    let (sender, incoming) = mpsc::channel(8);
    let (outgoing, receiver) = mpsc::channel(8);
    let (view, connection) = bridge.connect(incoming, outgoing);
    let scripted = ScriptedView { sender, receiver };
    (view, scripted, tokio::spawn(connection))
}

/// Connects a bridge with an initialized view.
pub(crate) async fn connect_ready(
    bridge: HostBridge,
    capabilities: Value,
) -> (View, ScriptedView, JoinHandle<Result<(), ViewError>>) {
    let (view, mut scripted, connection) = connect(bridge);
    scripted.initialize(capabilities).await;
    (view, scripted, connection)
}

impl ScriptedView {
    pub(crate) async fn send(&mut self, message: Value) {
        self.send_text(message.to_string()).await;
    }

    pub(crate) async fn send_text(&mut self, text: String) {
        // The host may have closed the connection.
        let _ = self.sender.send(text).await;
    }

    pub(crate) async fn receive(&mut self) -> Value {
        let text = self.receiver.next().await.expect("the host has closed");
        serde_json::from_str(&text).unwrap()
    }

    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = json!(format!("view {method}"));
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await;
        let response = self.receive().await;
        assert_eq!(response["id"], id, "{response}");
        response
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({"jsonrpc": "2.0", "method": method, "params": params}))
            .await;
    }

    pub(crate) async fn initialize(&mut self, capabilities: Value) -> Value {
        let params = json!({
            "protocolVersion": "2026-01-26",
            "appInfo": {"name": "view", "version": "1"},
            "appCapabilities": capabilities,
        });
        let response = self.request("ui/initialize", params).await;
        self.notify("ui/notifications/initialized", json!({})).await;
        response["result"].clone()
    }
}

/// A client of a server with a tool for everybody, one for models and one for views.
pub(crate) async fn client() -> Client {
    let server = Server::new("charts", "1.0.0")
        .tool(Tool::new("shared").handler(|| "for all"))
        .tool(Tool::new("secret").model_only().handler(|| "for models"))
        .tool(Tool::new("refresh").app_only().handler(|| "for views"))
        .resource(Resource::new("data://1").read(|| "some data"))
        .template(ResourceTemplate::new("days://{day}").read(|| "a day"));
    Client::connect(mcp::InProcess(server)).await.unwrap()
}

//! A server over HTTP, and a client whose messages a relay passes on.

use std::io;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use futures::channel::mpsc;
use futures::{SinkExt as _, StreamExt as _};
use mcp::HttpChannel;
use mcp::client::Over;
use mcp::core::InProcessChannel;
use mcp::gateway::{GatewayServer, Relay};
use mcp::prelude::*;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tracing::Dispatch;

/// The server of the tests.
#[derive(Debug, Default)]
pub(crate) struct Shop;

/// The form of an order.
#[derive(Debug, mcp::Elicit)]
pub(crate) struct Order {
    /// Number of items
    pub(crate) count: u32,
}

/// The arguments of `open`.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct Branch {
    /// The region, which a header repeats.
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: String,
}

/// A shop.
#[mcp::server(name = "shop", version = "1.0.0")]
impl Shop {
    /// Adds two numbers.
    #[tool]
    async fn add(&self, a: i64, b: i64, progress: Progress) -> String {
        progress.report(1.0, 2.0, "adding").await;
        (a + b).to_string()
    }

    /// Orders items.
    #[tool]
    async fn order(&self, ask: Ask) -> Result<String, ToolError> {
        let order = ask.form::<Order>("order", "How many?").await?;
        let order = order.accepted().ok_or(ToolError::new("no order"))?;
        Ok(format!("{} items", order.count))
    }

    /// Opens a branch.
    #[tool]
    async fn open(&self, Args(branch): Args<Branch>) -> String {
        format!("open in {}", branch.region)
    }

    /// Never ends.
    #[tool]
    async fn wait(&self) -> String {
        std::future::pending().await
    }
}

/// Serves the shop, and returns its URL.
pub(crate) async fn http_shop() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async { drop(mcp::serve_http(Shop, listener).await) });
    url
}

/// Serves a server over HTTP, and returns its URL.
pub(crate) async fn serve(server: Server) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async { drop(mcp::serve_http(server, listener).await) });
    url
}

/// A server of a gateway, in this process.
pub(crate) fn server_of(name: &str, server: Server) -> GatewayServer {
    let server = Arc::new(server);
    GatewayServer::new(name, move |client| {
        client.connect(Over(InProcessChannel::new(server.clone())))
    })
}

/// The client's side of a relay.
pub(crate) struct Lines {
    pub(crate) input: mpsc::Sender<io::Result<Bytes>>,
    pub(crate) output: mpsc::Receiver<Bytes>,
    pub(crate) ended: tokio::task::JoinHandle<Result<(), mcp::gateway::RelayError>>,
}

impl Lines {
    pub(crate) fn over(relay: Relay) -> Self {
        let (input, lines) = mpsc::channel(16);
        let (sink, output) = mpsc::channel(16);
        let sink = sink.sink_map_err(io::Error::other);
        let ended = tokio::spawn(relay.run(lines, sink));
        Self {
            input,
            output,
            ended,
        }
    }

    pub(crate) async fn to_shop() -> Self {
        Self::over(Relay::new(HttpChannel::new(http_shop().await).unwrap()))
    }

    pub(crate) async fn send(&mut self, message: Value) {
        self.send_text(message.to_string()).await;
    }

    pub(crate) async fn send_text(&mut self, text: impl Into<Bytes>) {
        self.input.send(Ok(text.into())).await.unwrap();
    }

    pub(crate) async fn receive(&mut self) -> Value {
        let message = self.output.next().await.unwrap();
        serde_json::from_slice(&message).unwrap()
    }

    /// Returns the next message with this id.
    pub(crate) async fn response(&mut self, id: i64) -> Value {
        loop {
            let message = self.receive().await;
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }

    /// Opens a legacy session with the form capability.
    pub(crate) async fn initialize(&mut self, version: &str) -> Value {
        self.send(
            json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                "protocolVersion": version, "capabilities": { "elicitation": {} },
                "clientInfo": { "name": "test", "version": "1" },
            }}),
        )
        .await;
        let response = self.response(0).await;
        self.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
            .await;
        response
    }
}

/// The `_meta` of a modern request.
pub(crate) fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
    })
}

/// A buffer for log lines.
#[derive(Clone, Default)]
pub(crate) struct LogLines(Arc<Mutex<Vec<u8>>>);

impl io::Write for LogLines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl LogLines {
    /// Records the events of this thread until the guard is dropped.
    pub(crate) fn record(&self) -> tracing::subscriber::DefaultGuard {
        // With a single subscriber, `tracing` disables an event for all threads that another test emits first.
        static OTHER: OnceLock<Dispatch> = OnceLock::new();
        OTHER.get_or_init(|| Dispatch::new(tracing_subscriber::registry()));
        let writer = self.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_writer(move || writer.clone())
            .with_ansi(false)
            .finish();
        tracing::subscriber::set_default(subscriber)
    }

    /// Returns the lines so far.
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().clone()).unwrap()
    }
}

//! A server with a scripted service, and a client that speaks HTTP by hand, so that it can
//! misbehave.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use mcp_core::{BoxFuture, Call, Exchange, Reply, ServerProfile, Service};
use mcp_transport_http::{Serve, Shutdown, StreamableHttp};
use mcp_types::{CallToolResult, ContentBlock, Implementation, ProtocolVersion};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// Longer than anything here takes, so that a hang is a failure and not a hang.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Scripted {
    profile: Arc<ServerProfile>,
    script: Box<dyn Fn(Exchange) -> BoxFuture<'static, Reply> + Send + Sync>,
}

impl Service for Scripted {
    fn profile(&self) -> Arc<ServerProfile> {
        Arc::clone(&self.profile)
    }

    fn call(&self, exchange: Exchange) -> BoxFuture<'static, Reply> {
        (self.script)(exchange)
    }
}

pub(crate) fn endpoint<F, R>(script: F) -> StreamableHttp
where
    F: Fn(Exchange) -> R + Send + Sync + 'static,
    R: Future<Output = Reply> + Send + 'static,
{
    endpoint_of(
        ServerProfile::new(Implementation::new("test", "1.0.0")),
        script,
    )
}

/// An endpoint of both eras.
pub(crate) fn dual_endpoint<F, R>(script: F) -> StreamableHttp
where
    F: Fn(Exchange) -> R + Send + Sync + 'static,
    R: Future<Output = Reply> + Send + 'static,
{
    let profile = ServerProfile::new(Implementation::new("test", "1.0.0"));
    endpoint_of(profile.versions(ProtocolVersion::ALL), script)
}

fn endpoint_of<F, R>(profile: ServerProfile, script: F) -> StreamableHttp
where
    F: Fn(Exchange) -> R + Send + Sync + 'static,
    R: Future<Output = Reply> + Send + 'static,
{
    let profile = Arc::new(profile);
    let script =
        Box::new(move |exchange| -> BoxFuture<'static, Reply> { Box::pin(script(exchange)) });
    StreamableHttp::new(Scripted { profile, script })
}

pub(crate) fn text(text: &str) -> Reply {
    CallToolResult::new(vec![ContentBlock::text(text)]).into()
}

/// Answers with the tool's name.
pub(crate) async fn echo(exchange: Exchange) -> Reply {
    match &exchange.call {
        Call::CallTool(params) => text(&params.name),
        _ => text("?"),
    }
}

/// A server in a task.
pub(crate) struct Running {
    pub(crate) addr: SocketAddr,
    pub(crate) shutdown: Shutdown,
    pub(crate) task: JoinHandle<std::io::Result<()>>,
}

pub(crate) async fn start(
    endpoint: StreamableHttp,
    set: impl FnOnce(Serve<StreamableHttp>) -> Serve<StreamableHttp>,
) -> Running {
    let serve = Serve::bind("127.0.0.1:0", endpoint).await.unwrap();
    let (addr, shutdown) = (serve.local_addr().unwrap(), Shutdown::new());
    let serve = set(serve).shutdown_with(shutdown.clone());
    Running {
        addr,
        shutdown,
        task: tokio::spawn(serve.into_future()),
    }
}

impl Running {
    pub(crate) async fn connect(&self) -> Client {
        Client {
            stream: TcpStream::connect(self.addr).await.unwrap(),
            read: Vec::new(),
        }
    }

    /// The server is there and serves.
    pub(crate) async fn assert_serving(&self) {
        let mut client = self.connect().await;
        client.call("alive", false).await;
        assert_eq!(client.json().await["result"]["content"][0]["text"], "alive");
    }

    pub(crate) async fn stop(self) {
        self.shutdown.drain();
        within(self.task).await.unwrap().unwrap();
    }
}

pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.unwrap()
}

pub(crate) struct Client {
    pub(crate) stream: TcpStream,
    read: Vec<u8>,
}

pub(crate) struct Head {
    pub(crate) status: u16,
    text: String,
}

impl Head {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.text.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

/// The text of a call of the tool `name`.
pub(crate) fn call_text(name: &str, wants_notes: bool) -> String {
    let mut meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    if wants_notes {
        meta["progressToken"] = json!(7);
    }
    let params = json!({ "name": name, "arguments": {}, "_meta": meta });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string()
}

/// The head of a POST, up to the headers that tell its length.
pub(crate) fn head_of(name: &str) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: tools/call\r\nMcp-Name: {name}\r\n"
    )
}

impl Client {
    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).await.unwrap();
    }

    pub(crate) async fn call(&mut self, name: &str, wants_notes: bool) {
        let body = call_text(name, wants_notes);
        self.post(name, &body).await;
    }

    pub(crate) async fn post(&mut self, name: &str, body: &str) {
        let head = head_of(name);
        self.send(format!(
            "{head}Content-Length: {}\r\n\r\n{body}",
            body.len()
        ))
        .await;
    }

    /// Reads more; `false` at the end of the connection.
    async fn read_more(&mut self) -> bool {
        let mut chunk = [0; 16 * 1024];
        match within(self.stream.read(&mut chunk)).await {
            Ok(0) | Err(_) => false,
            Ok(n) => {
                self.read.extend_from_slice(&chunk[..n]);
                true
            }
        }
    }

    /// Takes everything up to and including `end`.
    async fn until(&mut self, end: &str) -> Option<String> {
        loop {
            let found = self
                .read
                .windows(end.len())
                .position(|window| window == end.as_bytes());
            if let Some(at) = found {
                let taken: Vec<u8> = self.read.drain(..at + end.len()).collect();
                return Some(String::from_utf8(taken).unwrap());
            }
            if !self.read_more().await {
                return None;
            }
        }
    }

    async fn exactly(&mut self, length: usize) -> Option<Vec<u8>> {
        while self.read.len() < length {
            if !self.read_more().await {
                return None;
            }
        }
        Some(self.read.drain(..length).collect())
    }

    /// The head of the next response, or `None` when the connection ends instead.
    pub(crate) async fn head(&mut self) -> Option<Head> {
        let text = self.until("\r\n\r\n").await?;
        let status = text.split(' ').nth(1).unwrap().parse().unwrap();
        Some(Head { status, text })
    }

    /// The next chunk of a stream; empty at its proper end, `None` when it breaks off.
    pub(crate) async fn chunk(&mut self) -> Option<String> {
        let size = self.until("\r\n").await?;
        let size = usize::from_str_radix(size.trim(), 16).unwrap();
        let data = self.exactly(size + 2).await?;
        Some(String::from_utf8(data[..size].to_vec()).unwrap())
    }

    /// The rest of a stream that ends properly.
    pub(crate) async fn chunks(&mut self) -> String {
        let mut whole = String::new();
        loop {
            let chunk = self.chunk().await.expect("the stream broke off");
            if chunk.is_empty() {
                return whole;
            }
            whole += &chunk;
        }
    }

    /// A whole response with a known length.
    pub(crate) async fn response(&mut self) -> Option<(Head, String)> {
        let head = self.head().await?;
        let length = head
            .header("content-length")
            .map_or(0, |length| length.parse().unwrap());
        let body = self.exactly(length).await?;
        Some((head, String::from_utf8(body).unwrap()))
    }

    pub(crate) async fn json(&mut self) -> Value {
        let (head, body) = self.response().await.unwrap();
        assert_eq!(head.header("content-type"), Some("application/json"));
        serde_json::from_str(&body).unwrap()
    }

    /// Waits for the end of the connection.
    pub(crate) async fn closed(&mut self) {
        while self.read_more().await {}
    }
}

/// Says that it is dropped.
pub(crate) struct Guard(pub(crate) Arc<Notify>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

/// A handler that never ends, and what its beginning and its end notify.
pub(crate) fn endless() -> (StreamableHttp, Arc<Notify>, Arc<Notify>) {
    let (begun, gone) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let flags = (Arc::clone(&begun), Arc::clone(&gone));
    let endpoint = endpoint(move |exchange| {
        let (begun, guard) = (Arc::clone(&flags.0), Guard(Arc::clone(&flags.1)));
        async move {
            if matches!(&exchange.call, Call::CallTool(params) if params.name == "alive") {
                // The guard of this call says nothing.
                std::mem::forget(guard);
                return text("alive");
            }
            begun.notify_one();
            std::future::pending::<()>().await;
            drop(guard);
            text("never")
        }
    });
    (endpoint, begun, gone)
}

/// What a client gets whose call never ends (see [`endless`]) when the server drains.
pub(crate) async fn drained(server: &Running, begun: &Notify) -> String {
    let mut client = server.connect().await;
    client.call("t", false).await;
    within(begun.notified()).await;
    assert_eq!(client.head().await.unwrap().status, 200);
    server.shutdown.drain();
    client.chunks().await
}

//! A server with a scripted service, and a client that writes raw HTTP, also invalid HTTP.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use mcp_core::{BoxFuture, Call, Exchange, Reply, ServerProfile, Service};
use mcp_transport_http::{Serve, ServeError, Shutdown, StreamableHttp};
use mcp_types::{CallToolResult, ContentBlock, Implementation, ProtocolVersion};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// Timeout of each step of a test.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(20);

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

/// Creates an endpoint for modern and legacy clients.
pub(crate) fn dual_endpoint<F, R>(script: F) -> StreamableHttp
where
    F: Fn(Exchange) -> R + Send + Sync + 'static,
    R: Future<Output = Reply> + Send + 'static,
{
    dual_endpoint_of("test", script)
}

/// Creates an endpoint of a server with this name, for modern and legacy clients.
pub(crate) fn dual_endpoint_of<F, R>(server: &str, script: F) -> StreamableHttp
where
    F: Fn(Exchange) -> R + Send + Sync + 'static,
    R: Future<Output = Reply> + Send + 'static,
{
    let mut profile = ServerProfile::new(Implementation::new(server, "1.0.0"));
    profile.versions = ProtocolVersion::ALL.into();
    endpoint_of(profile, script)
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

/// Replies with the name of the tool.
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
    pub(crate) task: JoinHandle<Result<(), ServeError>>,
}

pub(crate) async fn start(
    endpoint: StreamableHttp,
    set: impl FnOnce(Serve<StreamableHttp>) -> Serve<StreamableHttp>,
) -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (addr, shutdown) = (listener.local_addr().unwrap(), Shutdown::new());
    let serve = set(Serve::service(endpoint)).shutdown_with(shutdown.clone());
    Running {
        addr,
        shutdown,
        task: tokio::spawn(serve.run(listener)),
    }
}

impl Running {
    pub(crate) async fn connect(&self) -> Client {
        Client::connect(self.addr).await
    }

    /// Asserts that the server answers a call on a new connection.
    pub(crate) async fn assert_serving(&self) {
        let mut client = self.connect().await;
        client.call("alive", false).await;
        assert_eq!(client.json().await["result"]["content"][0]["text"], "alive");
    }

    /// Asserts that the server answers a request for another path with 404.
    pub(crate) async fn assert_not_found(&self) {
        let mut client = self.connect().await;
        client
            .send("GET /none HTTP/1.1\r\nHost: localhost\r\n\r\n")
            .await;
        assert_eq!(client.head().await.unwrap().status, 404);
    }

    pub(crate) async fn stop(self) {
        self.shutdown.drain();
        within(self.task).await.unwrap().unwrap();
    }
}

pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(TIMEOUT, future).await.unwrap()
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

/// Returns the JSON of a call of the tool `name`.
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

/// Returns the head of a POST without the headers of its length.
pub(crate) fn head_of(name: &str) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: tools/call\r\nMcp-Name: {name}\r\n"
    )
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        Self {
            stream: TcpStream::connect(address).await.unwrap(),
            read: Vec::new(),
        }
    }

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

    /// Reads more bytes. Returns false at the end of the connection.
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

    /// Returns all bytes up to and including `end`, or `None` when the connection ends before.
    pub(crate) async fn until(&mut self, end: &str) -> Option<String> {
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

    /// Returns the head of the next response, or `None` at the end of the connection.
    pub(crate) async fn head(&mut self) -> Option<Head> {
        let text = self.until("\r\n\r\n").await?;
        let status = text.split(' ').nth(1).unwrap().parse().unwrap();
        Some(Head { status, text })
    }

    /// Returns the next chunk of a stream: empty at its end, `None` when the connection breaks.
    pub(crate) async fn chunk(&mut self) -> Option<String> {
        let size = self.until("\r\n").await?;
        let size = usize::from_str_radix(size.trim(), 16).unwrap();
        let data = self.exactly(size + 2).await?;
        Some(String::from_utf8(data[..size].to_vec()).unwrap())
    }

    /// Returns the remaining chunks of a stream.
    ///
    /// # Panics
    ///
    /// Panics if the connection breaks before the end of the stream.
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

    /// Returns a response with a `Content-Length`.
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

/// Notifies when it is dropped.
pub(crate) struct Guard(pub(crate) Arc<Notify>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

/// Returns an endpoint whose calls never end, and the notifications of their start and their drop.
pub(crate) fn endless() -> (StreamableHttp, Arc<Notify>, Arc<Notify>) {
    let (begun, gone) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let flags = (Arc::clone(&begun), Arc::clone(&gone));
    let endpoint = endpoint(move |exchange| {
        let (begun, guard) = (Arc::clone(&flags.0), Guard(Arc::clone(&flags.1)));
        async move {
            if matches!(&exchange.call, Call::CallTool(params) if params.name == "alive") {
                // The end of this call must not notify.
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

/// Starts an endless call (see [`endless`]), drains the server, and returns the rest of the stream.
pub(crate) async fn drained(server: &Running, begun: &Notify) -> String {
    let mut client = server.connect().await;
    client.call("t", false).await;
    within(begun.notified()).await;
    assert_eq!(client.head().await.unwrap().status, 200);
    server.shutdown.drain();
    client.chunks().await
}

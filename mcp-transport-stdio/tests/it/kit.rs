//! A service that interprets tool names as commands, and a client that writes lines by hand, so that
//! it can misbehave.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_core::{
    BoxFuture, Call, Changes, Exchange, Fault, Input, MemoryBus, Reply, ResultBody, ServerProfile,
    Service,
};
use mcp_transport_stdio::StdioServer;
use mcp_types::{
    CallToolResult, ContentBlock, ElicitFormParams, ElicitParams, ExtraFields, FormSchema,
    Implementation, InputRequest, ProgressUpdate, ProtocolVersion, RawObject, ServerCapabilities,
};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, duplex, split,
};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// Longer than every operation here, so that a hang fails the test.
const TIMEOUT: Duration = Duration::from_secs(600);

/// A service that interprets the name of a tool as a command.
#[derive(Clone, Default)]
pub(crate) struct ToolNameService {
    pub(crate) bus: Arc<MemoryBus>,
    /// Number of running calls.
    pub(crate) running: Arc<AtomicUsize>,
    /// The server declares an extension. The handler of its notifications takes one second.
    pub(crate) has_extension: bool,
}

struct RunningGuard(Arc<AtomicUsize>);

impl Drop for RunningGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Service for ToolNameService {
    fn profile(&self) -> Arc<ServerProfile> {
        let mut offers = ServerCapabilities::default()
            .with_tools(true)
            .with_resources(false, true);
        offers.logging = Some(ExtraFields::default());
        let offers = if self.has_extension {
            offers.with_extension("com.example/x", &())
        } else {
            offers
        };
        let info = Implementation::new("tool-name", "1.0.0");
        let mut profile = ServerProfile::new(info);
        profile.capabilities = offers;
        profile.versions = ProtocolVersion::ALL.into();
        Arc::new(profile)
    }

    fn call(&self, exchange: Exchange) -> BoxFuture<'static, Reply> {
        self.running.fetch_add(1, Ordering::SeqCst);
        let running = RunningGuard(self.running.clone());
        Box::pin(async move {
            let _busy = running;
            run_tool(exchange).await
        })
    }

    fn changes(&self) -> Option<Changes> {
        Some(self.bus.clone().into())
    }
}

async fn run_tool(exchange: Exchange) -> Reply {
    let params = match &exchange.call {
        Call::CallTool(params) => params,
        Call::Notification { .. } => {
            sleep(Duration::from_secs(1)).await;
            return ResultBody::Empty.into();
        }
        _ => return text("no tool"),
    };
    let words: Vec<&str> = params.name.split(' ').collect();
    match words[..] {
        ["wait", seconds] => sleep(Duration::from_secs(seconds.parse().unwrap())).await,
        ["big", bytes] => return text(&"x".repeat(bytes.parse().unwrap())),
        ["raw", bytes] => return raw(bytes.parse().unwrap()),
        ["report", count] => {
            for step in 1..=count.parse().unwrap() {
                exchange
                    .notifications
                    .report_progress(ProgressUpdate::new(f64::from(step)))
                    .await;
            }
        }
        ["panic"] => panic!("as told"),
        ["ask"] => return ask(exchange.input).await,
        _ => {}
    }
    text(&params.name)
}

async fn ask(input: Input) -> Reply {
    let Input::Live { channel, sink } = input else {
        return Fault::internal("nobody to ask").into();
    };
    let form = ElicitParams::from(ElicitFormParams::new("Sure?", FormSchema::new()));
    match channel.ask(InputRequest::from(form), sink).await {
        Ok(answer) => text(&format!("{answer:?}")),
        Err(error) => text(&error.to_string()),
    }
}

/// A large response that is cheap to encode.
fn raw(length: usize) -> Reply {
    static BODIES: Mutex<BTreeMap<usize, RawObject>> = Mutex::new(BTreeMap::new());
    let mut bodies = BODIES.lock().unwrap();
    let body = bodies.entry(length).or_insert_with(|| {
        let text = format!(r#"{{"x":"{}"}}"#, "x".repeat(length));
        RawObject::from_text(&text).unwrap()
    });
    Reply::Extended {
        result_type: "raw".into(),
        body: body.clone(),
    }
}

fn text(text: &str) -> Reply {
    CallToolResult::new(vec![ContentBlock::text(text)]).into()
}

/// A server over a pipe with the client's end of the pipe.
pub(crate) struct Peer {
    pub(crate) service: ToolNameService,
    pub(crate) reader: BufReader<ReadHalf<DuplexStream>>,
    pub(crate) writer: WriteHalf<DuplexStream>,
    pub(crate) server: JoinHandle<std::io::Result<()>>,
}

impl Peer {
    pub(crate) fn start() -> Self {
        Self::start_with(64 * 1024, |server| server)
    }

    /// Starts a server over a pipe with this capacity in bytes.
    pub(crate) fn start_with(room: usize, set: impl FnOnce(StdioServer) -> StdioServer) -> Self {
        let service = ToolNameService::default();
        let server = set(StdioServer::new(service.clone()));
        Self {
            service,
            ..Self::start_server(room, server)
        }
    }

    /// Starts a server with a service of its own.
    pub(crate) fn start_server(room: usize, server: StdioServer) -> Self {
        let (here, there) = duplex(room);
        let (reader, writer) = split(there);
        let server = tokio::spawn(server.run_over(reader, writer));
        let (reader, writer) = split(here);
        Self {
            service: ToolNameService::default(),
            reader: BufReader::new(reader),
            writer,
            server,
        }
    }

    pub(crate) async fn write(&mut self, text: &[u8]) {
        timeout(TIMEOUT, self.writer.write_all(text))
            .await
            .unwrap()
            .unwrap();
    }

    pub(crate) async fn send(&mut self, message: Value) {
        self.write(format!("{message}\n").as_bytes()).await;
    }

    /// Calls a tool by a modern request.
    pub(crate) async fn call(&mut self, id: i64, tool: &str) {
        self.send(modern(id, tool)).await;
    }

    /// Receives the next message, or `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = self.reader.read_line(&mut line);
        match timeout(TIMEOUT, read).await.unwrap().unwrap() {
            0 => None,
            _ => Some(serde_json::from_str(&line).unwrap()),
        }
    }

    pub(crate) async fn expect(&mut self) -> Value {
        self.next().await.unwrap()
    }

    /// Receives the response to request `id` and returns its text.
    #[track_caller]
    pub(crate) fn answer(&mut self, id: i64) -> impl Future<Output = String> {
        let place = std::panic::Location::caller();
        async move {
            let answer = self.expect().await;
            assert_eq!(answer["id"], id, "{answer} {place}");
            let text = answer["result"]["content"][0]["text"].as_str();
            text.unwrap_or_else(|| panic!("{answer} {place}"))
                .to_owned()
        }
    }

    /// Receives the error response to request `id` and returns its code.
    pub(crate) async fn refusal(&mut self, id: Value) -> i64 {
        let answer = self.expect().await;
        assert_eq!(answer["id"], id, "{answer}");
        answer["error"]["code"].as_i64().unwrap()
    }

    pub(crate) fn running(&self) -> usize {
        self.service.running.load(Ordering::SeqCst)
    }

    /// Closes the client's side and asserts that the server ends without an error.
    pub(crate) async fn close(mut self) {
        self.writer.shutdown().await.unwrap();
        assert_eq!(self.next().await, None);
        timeout(TIMEOUT, self.server)
            .await
            .unwrap()
            .unwrap()
            .unwrap();
    }
}

pub(crate) fn modern(id: i64, tool: &str) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "progressToken": id,
    });
    let params = json!({ "name": tool, "arguments": {}, "_meta": meta });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

pub(crate) fn cancel(id: i64) -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } })
}

//! Sessions over HTTP without a socket: an endpoint, and a client that builds its requests by hand.

mod asking;
mod batches;
mod binding;
mod deletion;
mod eviction;
mod expiry;
mod headers;
mod http_sse;
mod limits;
mod memory_relay;
mod races;
mod reference_go;
mod reference_typescript;
mod shared;
mod stores;
mod streams;
mod transcripts;

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt;
use http::{HeaderMap, Method, Request};
use http_body_util::{BodyExt, Full};
use mcp_core::{
    BoxFuture, Call, Changes, Exchange, Fault, MemoryBus, Principal, Reply, ResultBody,
    ServerProfile, Service, StreamControl,
};
use mcp_types::{
    CallToolResult, ContentBlock, ExtraFields, Implementation, LogMessage, LoggingLevel,
    ProgressUpdate, ProtocolVersion, ServerCapabilities,
};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tower_service::Service as _;

use crate::headers::names;
use crate::peer_addr::PeerAddr;
use crate::server::{Body, Sessions, StreamableHttp};

/// State of a server with the tools `echo`, `who`, `steps`, `wait`, `ask`, `poll` and `roots`.
pub(super) struct Tools {
    profile: Arc<ServerProfile>,
    pub(super) bus: Arc<MemoryBus>,
    /// Ends a call of `wait`.
    pub(super) go: Notify,
    /// Numbers of running and completed calls of `wait`.
    pub(super) waiting: Mutex<(i32, i32)>,
}

impl Tools {
    pub(super) fn new() -> Arc<Self> {
        let mut offers = ServerCapabilities::default()
            .with_tools(true)
            .with_resources(true, true);
        offers.logging = Some(ExtraFields::default());
        let mut profile = ServerProfile::new(Implementation::new("test", "1.0.0"));
        profile.capabilities = offers;
        profile.versions = ProtocolVersion::ALL.into();
        Arc::new(Self {
            profile: Arc::new(profile),
            bus: Arc::default(),
            go: Notify::new(),
            waiting: Mutex::default(),
        })
    }

    /// The server with an extension: the request `x/echo`, and the notification `notifications/x/go`,
    /// which ends a call of `wait`.
    pub(super) fn with_extension() -> Arc<Self> {
        let tools = Self::new();
        let offers = tools.profile.capabilities.clone();
        let offers = offers.with_extension("com.example/x", &());
        let mut profile = ServerProfile::clone(&tools.profile);
        profile.capabilities = offers;
        Arc::new(Self {
            profile: Arc::new(profile),
            bus: Arc::default(),
            go: Notify::new(),
            waiting: Mutex::default(),
        })
    }

    pub(super) fn waiting(&self) -> (i32, i32) {
        *self.waiting.lock().unwrap()
    }
}

/// Service of [`Tools`]. A newtype, because `Arc` is a foreign type.
#[derive(Clone)]
pub(super) struct Served(pub(super) Arc<Tools>);

impl Service for Served {
    fn profile(&self) -> Arc<ServerProfile> {
        self.0.profile.clone()
    }

    fn call(&self, exchange: Exchange) -> BoxFuture<'static, Reply> {
        let tools = self.0.clone();
        Box::pin(async move { tools.run(exchange).await })
    }

    fn changes(&self) -> Option<Changes> {
        Some(Changes::from(self.0.bus.clone()))
    }
}

/// Counts a call of `wait` while it runs.
struct Running(Arc<Tools>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.waiting.lock().unwrap().0 -= 1;
    }
}

impl Tools {
    async fn run(self: Arc<Self>, exchange: Exchange) -> Reply {
        let params = match &exchange.call {
            Call::CallTool(params) => params,
            Call::Other { method, params } if **method == *"x/echo" => {
                let params = params.clone().unwrap_or_default();
                return ResultBody::Other(params).into();
            }
            Call::Notification { method, .. } if **method == *"notifications/x/go" => {
                self.go.notify_one();
                return ResultBody::Empty.into();
            }
            other => return Fault::no_such_method(other.method_name()).into(),
        };
        match &*params.name {
            "echo" => text("echo"),
            "who" => {
                let principal = exchange.extensions.get::<Principal>();
                text(&principal.map_or("nobody".to_owned(), |principal| principal.subject.clone()))
            }
            "steps" => {
                for step in 1..4 {
                    exchange
                        .notifications
                        .report_progress(ProgressUpdate::new(f64::from(step)))
                        .await;
                    let message = LogMessage::new(LoggingLevel::Info, "step");
                    exchange.notifications.log(message);
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
                text("done")
            }
            "wait" => {
                self.waiting.lock().unwrap().0 += 1;
                let running = Running(self.clone());
                self.go.notified().await;
                self.waiting.lock().unwrap().1 += 1;
                drop(running);
                text("waited")
            }
            "ask" => asking::ask(exchange).await,
            "poll" => {
                let control = exchange.extensions.get::<StreamControl>();
                let Some(control) = control else {
                    return text("no control");
                };
                control.release();
                tokio::time::sleep(Duration::from_millis(100)).await;
                text("polled")
            }
            "roots" => asking::roots(exchange).await,
            _ => text("?"),
        }
    }
}

pub(super) fn text(text: &str) -> Reply {
    CallToolResult::new(vec![ContentBlock::text(text)]).into()
}

pub(super) type Endpoint = StreamableHttp;

pub(super) fn endpoint() -> (Endpoint, Arc<Tools>) {
    let tools = Tools::new();
    (StreamableHttp::new(Served(tools.clone())), tools)
}

/// A client, with or without a session.
#[derive(Clone)]
pub(super) struct Peer {
    pub(super) endpoint: Endpoint,
    pub(super) session: Option<String>,
    pub(super) version: &'static str,
    pub(super) principal: Option<Principal>,
    pub(super) address: Option<IpAddr>,
}

/// A response whose body has not been read.
pub(super) struct Got {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Body,
    /// Events that arrived in one frame with an event that was returned.
    queue: VecDeque<Event>,
}

impl Peer {
    pub(super) fn new(endpoint: &Endpoint) -> Self {
        Self {
            endpoint: endpoint.clone(),
            session: None,
            version: "2025-11-25",
            principal: None,
            address: None,
        }
    }

    pub(super) fn speaking(mut self, version: &'static str) -> Self {
        self.version = version;
        self
    }

    /// Opens a session and finishes the handshake.
    pub(super) async fn open(endpoint: &Endpoint) -> Self {
        Self::new(endpoint).begin().await
    }

    pub(super) async fn begin(mut self) -> Self {
        let got = self.send(initialize(self.version)).await;
        assert_eq!(got.status, 200);
        self.session = got.header(names::MCP_SESSION_ID.as_str());
        assert!(self.session.is_some());
        got.json().await;
        assert_eq!(self.send(initialized()).await.status, 202);
        self
    }

    /// Returns a request with all required headers.
    pub(super) fn request(&self, method: Method, body: impl Into<Bytes>) -> Request<Full<Bytes>> {
        let mut request = Request::builder()
            .method(&method)
            .uri("/mcp")
            .header(names::HOST, "localhost");
        if method == Method::POST {
            request = request
                .header(names::CONTENT_TYPE, names::JSON)
                .header(names::ACCEPT, names::ACCEPT_BOTH);
        } else {
            request = request.header(names::ACCEPT, names::EVENT_STREAM);
        }
        if let Some(session) = &self.session {
            request = request.header(names::MCP_SESSION_ID, session);
            request = request.header(names::MCP_PROTOCOL_VERSION, self.version);
        }
        let mut request = request.body(Full::new(body.into())).unwrap();
        if let Some(principal) = &self.principal {
            request.extensions_mut().insert(principal.clone());
        }
        if let Some(address) = self.address {
            request.extensions_mut().insert(PeerAddr(address));
        }
        request
    }

    pub(super) async fn call(&self, request: Request<Full<Bytes>>) -> Got {
        let Ok(response) = self.endpoint.clone().call(request).await;
        let (parts, body) = response.into_parts();
        Got {
            status: parts.status.as_u16(),
            headers: parts.headers,
            body,
            queue: VecDeque::new(),
        }
    }

    pub(super) async fn send(&self, message: Value) -> Got {
        self.call(self.request(Method::POST, message.to_string()))
            .await
    }

    pub(super) async fn tool(&self, id: impl Into<Value>, name: &str) -> Got {
        self.send(tool(id, name)).await
    }

    pub(super) async fn get(&self) -> Got {
        self.call(self.request(Method::GET, "")).await
    }

    pub(super) async fn resume(&self, last: &str) -> Got {
        let mut request = self.request(Method::GET, "");
        let last = last.parse().unwrap();
        request.headers_mut().insert(names::LAST_EVENT_ID, last);
        self.call(request).await
    }

    pub(super) async fn delete(&self) -> Got {
        self.call(self.request(Method::DELETE, "")).await
    }
}

impl Got {
    pub(super) fn header(&self, name: &str) -> Option<String> {
        let value = self.headers.get(name)?;
        Some(value.to_str().unwrap().to_owned())
    }

    pub(super) fn is_stream(&self) -> bool {
        self.headers.get(names::CONTENT_TYPE) == Some(&names::EVENT_STREAM)
    }

    /// Returns the JSON body of the response.
    pub(super) async fn json(self) -> Value {
        assert_eq!(self.headers[names::CONTENT_TYPE], names::JSON);
        let text = self.body.collect().await.unwrap().to_bytes();
        serde_json::from_slice(&text).unwrap()
    }

    /// Returns status and error code of a rejected request.
    pub(super) async fn refusal(self) -> (u16, i64) {
        let status = self.status;
        let body = self.json().await;
        (status, body["error"]["code"].as_i64().unwrap())
    }

    /// Returns the next frame of a stream, or `None` at its end.
    pub(super) async fn frame(&mut self) -> Option<String> {
        let frame = self.body.frame().await?.unwrap();
        let data = frame.into_data().unwrap();
        Some(String::from_utf8(data.to_vec()).unwrap())
    }

    /// Returns the next frame if it is ready.
    pub(super) fn frame_now(&mut self) -> Option<Option<String>> {
        self.frame().now_or_never()
    }

    /// Returns the next event that is not a comment.
    pub(super) async fn event(&mut self) -> Event {
        while self.queue.is_empty() {
            let frame = self.frame().await.expect("the stream goes on");
            self.queue.extend(events(&frame));
        }
        self.queue.pop_front().unwrap()
    }

    /// Returns the remaining events of a stream.
    pub(super) async fn rest(mut self) -> Vec<Event> {
        let mut whole = String::new();
        while let Some(frame) = self.frame().await {
            whole += &frame;
        }
        let mut rest: Vec<_> = self.queue.into();
        rest.extend(events(&whole));
        rest
    }

    /// Returns the remaining messages of a stream.
    pub(super) async fn messages(self) -> Vec<Value> {
        let events = self.rest().await;
        events.into_iter().filter_map(|event| event.data).collect()
    }
}

/// An event of a stream.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Event {
    pub(super) id: Option<String>,
    pub(super) retry: Option<u64>,
    /// `None` when it is empty.
    pub(super) data: Option<Value>,
}

pub(super) fn events(stream: &str) -> Vec<Event> {
    let blocks = stream
        .split("\n\n")
        .filter(|block| !block.is_empty() && !block.starts_with(':'));
    let read = |block: &str| {
        let field = |name: &str| {
            let mut lines = block.lines();
            lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
        };
        let data = field("data").map(str::trim).unwrap_or_default();
        Event {
            id: field("id").map(|id| id.trim().to_owned()),
            retry: field("retry").map(|retry| retry.trim().parse().unwrap()),
            data: (!data.is_empty()).then(|| serde_json::from_str(data).unwrap()),
        }
    };
    blocks.map(read).collect()
}

pub(super) fn initialize(version: &str) -> Value {
    json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {
            "protocolVersion": version,
            "capabilities": { "elicitation": {}, "sampling": {}, "roots": {} },
            "clientInfo": { "name": "peer", "version": "1" },
        },
    })
}

pub(super) fn initialized() -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })
}

pub(super) fn tool(id: impl Into<Value>, name: &str) -> Value {
    json!({
        "jsonrpc": "2.0", "id": id.into(), "method": "tools/call",
        "params": { "name": name, "arguments": {} },
    })
}

/// Returns a call of `steps` that requests progress.
pub(super) fn steps(id: impl Into<Value>) -> Value {
    let mut message = tool(id, "steps");
    message["params"]["_meta"] = json!({ "progressToken": "p" });
    message
}

pub(super) fn cancelled(id: impl Into<Value>) -> Value {
    let params = json!({ "requestId": id.into() });
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })
}

/// Yields until the spawned tasks are idle.
pub(super) async fn settle() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

#[test]
fn events_parses_ids_retry_and_data() {
    let stream = ":\n\nid: 1_0\nretry: 1000\ndata:\n\nevent: message\nid: 1_1\ndata: {\"a\":1}\n\n";
    let read = events(stream);
    assert_eq!(read[0].id.as_deref(), Some("1_0"));
    assert_eq!((read[0].retry, &read[0].data), (Some(1000), &None));
    assert_eq!(read[1].data, Some(json!({ "a": 1 })));
}

#[tokio::test(start_paused = true)]
async fn discover_and_initialize_list_the_served_versions() {
    // spec: GAP-07, GAP-17, COMPAT-01, COMPAT-04
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let discover = json!({
        "jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": { "_meta": meta },
    });
    let modern = json!(["2026-07-28"]);
    let all = json!(ProtocolVersion::ALL.map(ProtocolVersion::as_str));
    let (endpoint, _) = endpoint();
    for (sessions, expected) in [
        (Sessions::in_memory(), &all),
        (Sessions::stateless(), &all),
        (Sessions::off(), &modern),
    ] {
        let peer = Peer::new(&endpoint.clone().sessions(sessions));
        let mut request = peer.request(Method::POST, discover.to_string());
        let headers = request.headers_mut();
        headers.insert(names::MCP_PROTOCOL_VERSION, "2026-07-28".parse().unwrap());
        headers.insert(names::MCP_METHOD, "server/discover".parse().unwrap());
        let found = peer.call(request).await.json().await;
        assert_eq!(found["result"]["supportedVersions"], *expected);
    }
    let peer = Peer::new(&endpoint.sessions(Sessions::off()));
    let refused = peer.send(initialize("2025-11-25")).await;
    assert_eq!(refused.status, 400);
    let error = &refused.json().await["error"];
    assert_eq!(
        (&error["code"], &error["data"]["supported"]),
        (&json!(-32022), &modern)
    );
}

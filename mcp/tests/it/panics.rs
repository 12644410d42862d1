//! A panic of user code ends its call only: in a layer, in a handler, while a handler's future is
//! dropped; in live calls, in calls that send events, in batches and on pipes. The tests of sessions in
//! mcp-transport-http do the same with stores.

use std::future::{IntoFuture, pending};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::{Body, to_bytes};
use futures_util::future::{Either, select};
use http::Request;
use mcp::middleware::{Exchange, Next, from_fn};
use mcp::prelude::*;
use mcp::{Server, StdioServer};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::yield_now;
use tokio::time::{Instant, timeout};
use tower::Service as _;

/// Upper bound of every wait; reached only if a test fails.
const LIMIT: Duration = Duration::from_secs(30);

/// The message of each panic, which no client may read.
const SECRET: &str = "hunter2";

/// The tools whose code panics, by the place of the panic.
const PANICKING: [&str; 5] = ["layer", "handler", "later", "end", "question"];

/// Counts the running handlers, and panics when it is dropped.
struct Bomb(Arc<AtomicUsize>);

impl Bomb {
    fn start(running: &Arc<AtomicUsize>) -> Self {
        running.fetch_add(1, Ordering::SeqCst);
        Self(running.clone())
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
        assert!(std::thread::panicking(), "{SECRET}");
    }
}

fn panics() -> String {
    panic!("{SECRET}")
}

async fn panic_in_layer(exchange: Exchange, next: Next) -> mcp::middleware::Reply {
    assert_ne!(exchange.call.item(), Some("layer"), "{SECRET}");
    next.run(exchange).await
}

fn server(running: &Arc<AtomicUsize>) -> Server {
    let (waiting, asking) = (running.clone(), running.clone());
    let ended = running.clone();
    Server::new("s", "1")
        .layer(from_fn(panic_in_layer))
        .tool(Tool::new("fine").handler(|| "fine"))
        .tool(Tool::new("layer").handler(|| "unreachable"))
        .tool(Tool::new("handler").handler(panics))
        .tool(Tool::new("later").handler(async |progress: Progress| {
            progress.report(1.0, 2.0, "half").await;
            yield_now().await;
            panics()
        }))
        .tool(Tool::new("end").handler(move |progress: Progress| {
            let bomb = Bomb::start(&ended);
            async move {
                progress.report(1.0, 2.0, "half").await;
                drop(bomb);
                "unreachable"
            }
        }))
        .tool(Tool::new("question").handler(move |ask: Ask| {
            let bomb = Bomb::start(&asking);
            async move {
                let roots = ask.roots("roots").await;
                drop(bomb);
                roots.map(|roots| roots.len().to_string())
            }
        }))
        .tool(Tool::new("dropped").handler(move |progress: Progress| {
            let bomb = Bomb::start(&waiting);
            async move {
                progress.report(1.0, 2.0, "half").await;
                pending::<()>().await;
                drop(bomb);
            }
        }))
}

/// Waits until `count` handlers run.
async fn until_running(running: &AtomicUsize, count: usize) {
    let start = Instant::now();
    while running.load(Ordering::SeqCst) != count {
        assert!(start.elapsed() < LIMIT, "not {count} handlers run");
        yield_now().await;
    }
}

fn assert_internal(tool: &str, result: Result<CallToolResult, mcp::client::Error>) {
    let error = result.expect_err(tool).to_string();
    assert!(error.contains("-32603"), "{tool}: {error}");
    assert!(!error.contains(SECRET), "{tool}: {error}");
}

/// Calls every tool, with and without events.
async fn check(client: &Client, running: &AtomicUsize) {
    let fine = async || {
        let answer = timeout(LIMIT, client.call("fine", json!({})).into_future());
        assert_eq!(answer.await.unwrap().unwrap().text(), "fine");
    };
    for tool in PANICKING {
        let live = client.call(tool, json!({})).into_future();
        assert_internal(tool, timeout(LIMIT, live).await.unwrap());
        fine().await;
        let with_events = client.call(tool, json!({})).on_progress(drop).into_future();
        assert_internal(tool, timeout(LIMIT, with_events).await.unwrap());
        fine().await;
        until_running(running, 0).await;
    }
    for with_events in [false, true] {
        let mut call = client.call("dropped", json!({}));
        if with_events {
            call = call.on_progress(drop);
        }
        let is_running = pin!(until_running(running, 1));
        match select(pin!(call.into_future()), is_running).await {
            Either::Left((result, _)) => panic!("{result:?}"),
            // The end of this statement drops the call.
            Either::Right(_) => {}
        }
        until_running(running, 0).await;
        fine().await;
    }
}

fn client(mode: ConnectMode) -> mcp::ClientBuilder {
    Client::builder().mode(mode).roots(["file:///home"])
}

const MODES: [ConnectMode; 2] = [ConnectMode::Auto, ConnectMode::Legacy];

#[tokio::test]
async fn panic_ends_its_call_over_http() {
    for mode in MODES {
        let running = Arc::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let serving = tokio::spawn(mcp::serve_http(server(&running), listener));
        let client = client(mode).connect(url).await.unwrap();
        check(&client, &running).await;
        client.close().await.unwrap();
        serving.abort();
    }
}

#[tokio::test]
async fn panic_ends_its_call_over_pipe() {
    for mode in MODES {
        let running = Arc::default();
        let (near, far) = tokio::io::duplex(4096);
        let (reader, writer) = tokio::io::split(far);
        let server = StdioServer::new(server(&running));
        let serving = tokio::spawn(server.run_over(reader, writer));
        let (reader, writer) = tokio::io::split(near);
        let client = client(mode).connect(Io(reader, writer)).await.unwrap();
        check(&client, &running).await;
        client.close().await.unwrap();
        timeout(LIMIT, serving).await.unwrap().unwrap().unwrap();
    }
}

/// Sends one body to the endpoint; returns the session's id and the messages of the response.
async fn post(endpoint: &StreamableHttp, session: &str, body: Value) -> (String, Vec<Value>) {
    let mut request = Request::post("/mcp")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    if !session.is_empty() {
        request = request.header("mcp-session-id", session);
    }
    let request = request.body(body.to_string()).unwrap();
    let response = endpoint.clone().call(request).await.unwrap();
    let id = response.headers().get("mcp-session-id").cloned();
    let id = id.map_or_else(String::new, |id| id.to_str().unwrap().to_owned());
    let body = to_bytes(Body::new(response.into_body()), usize::MAX);
    let body = timeout(LIMIT, body).await.unwrap().unwrap();
    let text = std::str::from_utf8(&body).unwrap();
    let lines = text.lines().map(|line| line.trim_start_matches("data:"));
    let messages = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let messages = messages.flat_map(|message| match message {
        Value::Array(messages) => messages,
        message => vec![message],
    });
    (id, messages.collect())
}

#[tokio::test]
async fn panic_ends_its_call_in_a_batch() {
    let running = Arc::default();
    let endpoint = StreamableHttp::new(server(&running)).allowed_hosts(["localhost"]);
    let info = json!({"name": "c", "version": "1"});
    let params = json!({"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": info});
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    let (session, _) = post(&endpoint, "", initialize).await;
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    post(&endpoint, &session, initialized).await;
    let call = |id: usize, tool: &str| {
        let params = json!({"name": tool, "arguments": {}, "_meta": {"progressToken": id}});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    };
    let tools = ["layer", "fine", "handler", "later", "end", "fine"];
    let batch: Value = tools
        .iter()
        .enumerate()
        .map(|(id, tool)| call(id, tool))
        .collect();
    let (_, messages) = post(&endpoint, &session, batch).await;
    for (id, tool) in tools.iter().enumerate() {
        let reply = messages.iter().find(|message| message["id"] == id);
        let reply = reply.unwrap_or_else(|| panic!("{tool}: {messages:?}"));
        assert_eq!(reply["error"].is_null(), *tool == "fine", "{reply}");
        assert!(!reply.to_string().contains(SECRET), "{reply}");
    }
    until_running(&running, 0).await;
}

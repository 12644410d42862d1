//! Three processes that share a Redis server, behind a proxy that sends each request to the next one.

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http_body_util::BodyExt as _;
use mcp::HttpClient;
use mcp::prelude::*;
use mcp::{ConnectMode, ElicitRequest};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};
use tower::ServiceExt as _;

/// Longer than every operation here, so that a hang fails the test.
const LIMIT: Duration = Duration::from_secs(60);

/// A `redis-server` with its own port and folder. It ends with this value.
struct RedisServer {
    _process: Child,
    folder: PathBuf,
    port: u16,
}

impl RedisServer {
    /// Returns `None` where Redis is not installed, except if `REQUIRE_REDIS` is set.
    async fn start() -> Option<Self> {
        let free = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let folder = std::env::temp_dir().join(format!("mcp-cluster-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let process = Command::new("redis-server")
            .args(["--bind", "127.0.0.1", "--port", &port.to_string()])
            .args(["--save", "", "--dir"])
            .arg(&folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn();
        let Ok(process) = process else {
            assert!(
                std::env::var_os("REQUIRE_REDIS").is_none(),
                "redis-server is not installed"
            );
            eprintln!("skipped: redis-server is not installed");
            return None;
        };
        for _ in 0..1_000 {
            if TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
                break;
            }
            sleep(Duration::from_millis(10)).await;
        }
        Some(Self {
            _process: process,
            folder,
            port,
        })
    }

    /// Starts a node. Returns its process and its address.
    async fn node(&self) -> (Child, String) {
        let mut child = Command::new(env!("CARGO_BIN_EXE_everything-server"))
            .env("PORT", "0")
            .args(["--redis", &format!("redis://127.0.0.1:{}", self.port)])
            .args(["--prefix", "cluster"])
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let line = timeout(LIMIT, lines.next_line()).await.unwrap().unwrap();
        let line = line.unwrap();
        let url = line.strip_prefix("listening on http://").unwrap();
        let address = url.strip_suffix("/mcp").unwrap().to_owned();
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        (child, address)
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The proxy: its nodes, and the number of requests.
struct Proxy {
    http: HttpClient,
    nodes: Mutex<Vec<String>>,
    requests: AtomicUsize,
}

impl Proxy {
    async fn start(nodes: Vec<String>) -> (Arc<Self>, String) {
        let proxy = Arc::new(Self {
            http: HttpClient::new().unwrap(),
            nodes: Mutex::new(nodes),
            requests: AtomicUsize::new(0),
        });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let app = Router::new().fallback(forward).with_state(proxy.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        (proxy, url)
    }

    fn next(&self) -> String {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        let nodes = self.nodes.lock().unwrap();
        nodes[number % nodes.len()].clone()
    }

    /// Sends a GET to a node. Returns its status.
    async fn status(&self, node: &str, path: &str) -> StatusCode {
        let request = http::Request::get(format!("http://{node}{path}"));
        let request = request.body(bytes::Bytes::new()).unwrap();
        let response = self.http.clone().oneshot(request).await;
        response.map_or(StatusCode::BAD_GATEWAY, |response| response.status())
    }
}

async fn forward(State(proxy): State<Arc<Proxy>>, request: Request) -> Response {
    let (mut head, body) = request.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let node = proxy.next();
    let path = head.uri.path().to_owned();
    head.uri = format!("http://{node}{path}").parse().unwrap();
    head.headers.remove(http::header::HOST);
    head.headers.remove(http::header::CONTENT_LENGTH);
    let request = http::Request::from_parts(head, body);
    match proxy.http.clone().oneshot(request).await {
        Ok(response) => response.map(Body::new).into_response(),
        Err(_) => StatusCode::BAD_GATEWAY.into_response(),
    }
}

async fn client(url: &str, mode: ConnectMode) -> Client {
    let builder = Client::builder().mode(mode);
    let builder = builder.on_elicit(|form: ElicitRequest| async move {
        form.accept(json!({ "username": "ada", "email": "ada@example.com" }))
    });
    timeout(LIMIT, builder.connect(url)).await.unwrap().unwrap()
}

async fn ask(client: &Client) -> mcp::Result<String> {
    let call = client.call("test_elicitation", json!({ "message": "Who?" }));
    let result = timeout(LIMIT, call).await.expect("the call does not end")?;
    Ok(result.text())
}

#[tokio::test]
async fn sessions_survive_a_killed_node_behind_a_proxy() {
    let Some(redis) = RedisServer::start().await else {
        return;
    };
    let (mut children, mut nodes) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        let (child, node) = redis.node().await;
        children.push(child);
        nodes.push(node);
    }
    let (proxy, url) = Proxy::start(nodes.clone()).await;
    for path in ["/health", "/ready"] {
        assert_eq!(
            proxy.status(&nodes[0], path).await,
            StatusCode::OK,
            "{path}"
        );
    }
    let legacy = client(&url, ConnectMode::Legacy).await;
    let modern = client(&url, ConnectMode::Auto).await;
    // Each message of a call reaches another node than the one before.
    for _ in 0..5 {
        for client in [&legacy, &modern] {
            let text = ask(client).await.unwrap();
            assert!(text.contains("accept"), "{text}");
        }
    }
    // The proxy learns of the end of a node before it sends more requests there.
    let gone = nodes.remove(0);
    proxy.nodes.lock().unwrap().clone_from(&nodes);
    children.remove(0).kill().await.unwrap();
    assert_eq!(
        proxy.status(&gone, "/health").await,
        StatusCode::BAD_GATEWAY
    );
    for _ in 0..5 {
        for client in [&legacy, &modern] {
            let text = ask(client).await.unwrap();
            assert!(text.contains("accept"), "{text}");
        }
    }
    // A node that starts again takes part at once.
    let (child, node) = redis.node().await;
    children.push(child);
    proxy.nodes.lock().unwrap().push(node);
    for _ in 0..3 {
        assert!(ask(&legacy).await.unwrap().contains("accept"));
    }
}
